import { usageError } from './cli-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Parses an address to scheme, host and port. Throws a usage error that names `setting`. */
export function parseAddress(text: string, setting: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw usageError(`${setting}=${JSON.stringify(text)} isn't an address. Use one like http://127.0.0.1:4870.`)
  }
  return url.origin
}

/** Returns the service's address: `--url`, `SVC_API_URL`, the last sign-in, or the default address of `svc serve`. */
export function chooseAddress(option: string | undefined, env: Environment, lastSignIn: () => string | null): string {
  if (option !== undefined) return parseAddress(option, '--url')
  const fromEnvironment = env['SVC_API_URL']
  if (fromEnvironment) return parseAddress(fromEnvironment, 'SVC_API_URL')
  return lastSignIn() ?? parseAddress(`http://127.0.0.1:${env['SVC_PORT'] || '4870'}`, 'SVC_PORT')
}

/**
 * Returns the token of the environment if it is meant for `url`: one that came with `SVC_API_URL` is sent nowhere
 * else.
 */
export function tokenFromEnvironment(url: string, env: Environment): string | null {
  const token = env['SVC_API_TOKEN']
  const address = env['SVC_API_URL']
  if (!token) return null
  return !address || parseAddress(address, 'SVC_API_URL') === url ? token : null
}
