import { TrackerError } from '../../ports/issue-trackers.ts'

/** The token that an environment variable holds; it never leaves this folder. */
export function readToken(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const token = env[name]?.trim() ?? ''
  if (token === '') {
    throw new TrackerError(
      'missing_secret',
      `The environment variable ${name} is not set. Set it where Copse is started, and start Copse again.`,
    )
  }
  // What no header can hold would be quoted in the error of whoever tries to send it.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new TrackerError('unusable_secret', `What the environment variable ${name} holds is no token.`)
  }
  return token
}
