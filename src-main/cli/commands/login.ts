import { hostname } from 'node:os'
import type { Command } from 'commander'
import { ConnectionError } from '../../../src-shared/client/http-transport.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import { parseAddress } from '../address.ts'
import { CliError, usageError } from '../cli-error.ts'
import { ask, secretFromStdin, textOf } from '../prompt.ts'
import {
  addClientCommand,
  clientWith,
  runCommand,
  type CommonOptions,
  type CommandContext,
} from '../command-context.ts'
import type { SignIn } from '../sign-ins.ts'

interface LoginOptions extends CommonOptions {
  readonly email?: string
  readonly token?: string
}

/** Adds `svc login` and `svc logout`. */
export function addSignIn(program: Command): void {
  addClientCommand(program, {
    usage: 'login [link]',
    summary: 'sign in with email and password, a token, or the link that Copse printed on this machine',
    examples: [
      'svc login',
      'svc login --email me@example.com < password.txt',
      'svc login --token - < token.txt',
      "svc login 'http://127.0.0.1:4870/#code=…'",
    ],
  })
    .option('--email <email>', 'whose account; the password is asked for, or read from stdin')
    .option('--token <token>', 'a personal access token; - reads it from stdin')
    .action((link: string | undefined, options: LoginOptions) => {
      const url = options.url ?? (link === undefined ? undefined : addressIn(link))
      return runCommand({ ...options, ...(url !== undefined && { url }) }, (scene) => login(scene, link, options))
    })
  addClientCommand(program, {
    usage: 'logout',
    summary: 'forget the token of an address, and revoke it where `svc login` made it',
    examples: ['svc logout', 'svc logout --url http://192.168.1.20:4870'],
  }).action((options: CommonOptions) => runCommand(options, logout))
}

/** Returns only the origin; `signInByLink` reports an invalid link. */
const addressIn = (link: string) => (URL.canParse(link) ? new URL(link).origin : link)

async function login(scene: CommandContext, link: string | undefined, options: LoginOptions): Promise<void> {
  const { url, signIns, out } = scene
  const signIn = await signInWith(scene, link, options)
  signIns.put(url, signIn)
  await out.answer({ url, who: signIn.who, file: signIns.file }, () => `Signed in to ${url} as ${signIn.who}.`)
}

async function signInWith({ url }: CommandContext, link: string | undefined, options: LoginOptions): Promise<SignIn> {
  if (link !== undefined) return signInByLink(url, link)
  if (options.token !== undefined) return signInByToken(url, options.token)
  return signInByPassword(url, options.email)
}

async function signInByToken(url: string, option: string): Promise<SignIn> {
  const token = (await textOf(option)).trim()
  if (token === '') throw usageError('The token is empty. Make one in Settings, Account.')
  const { email } = await clientWith(url, token).call('auth.me', {})
  return { token, token_id: null, who: email }
}

async function signInByPassword(url: string, given: string | undefined): Promise<SignIn> {
  const isPiped = !process.stdin.isTTY
  const without = 'Pass --email and the password on stdin, or --token: there is no terminal to ask on.'
  const email = given ?? (await ask('Email: ', { without }))
  const password = isPiped ? await secretFromStdin() : await ask('Password: ', { hidden: true, without })
  const session = await passwordSession(url, { email: email.trim(), password })
  const signedIn = await saveSignIn(url, session.access_token)
  // The session was needed only to create the token, which is permanent.
  await clientWith(url, null).call('auth.logout', { refresh_token: session.refresh_token })
  return signedIn
}

async function passwordSession(url: string, given: { readonly email: string; readonly password: string }) {
  const client = clientWith(url, null)
  try {
    return await client.call('auth.login', given)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_credentials') throw error
    if ((await client.call('auth.options', {})).registered) throw error
    const fields = 'email=you@example.com display_name=You password=…'
    throw new CliError(
      error.code,
      `No one has an account there yet. Make the first one at ${url}, or with: svc call auth.register ${fields}`,
      { cause: error },
    )
  }
}

async function signInByLink(url: string, link: string): Promise<SignIn> {
  parseAddress(link, 'link')
  const code = new URLSearchParams(new URL(link).hash.slice(1)).get('code')
  if (!code) throw usageError('The link has no code. Paste the whole link that Copse printed, in quotes.')
  const { access_token } = await clientWith(url, null).call('auth.local', { code })
  try {
    return await saveSignIn(url, access_token)
  } catch (error) {
    // Before the first registration there is no account that could own a token, so the session itself is used for its
    // 12 hours.
    if (!(error instanceof ApiError) || error.code !== 'forbidden') throw error
    return { token: access_token, token_id: null, who: 'the person at this machine, for 12 hours' }
  }
}

/** Creates a separate token, which the settings list and can revoke. */
async function saveSignIn(url: string, accessToken: string): Promise<SignIn> {
  const client = clientWith(url, accessToken)
  const { id, token } = await client.call('auth.create_token', { name: `svc on ${hostname()}`.slice(0, 100) })
  const { email } = await client.call('auth.me', {})
  return { token, token_id: id, who: email }
}

async function logout({ url, signIns, out }: CommandContext): Promise<void> {
  const signIn = signIns.find(url)
  if (signIn === null) {
    await out.answer({ url, revoked: false }, () => `Not signed in to ${url}.`)
    return
  }
  // Forget the token even if the service fails to revoke it.
  signIns.remove(url)
  const revoked = signIn.token_id !== null && (await revoke(url, signIn.token, signIn.token_id))
  await out.answer({ url, revoked }, () => `Signed out of ${url}.`)
}

/** Revokes a token. An unknown token needs no revoking. */
async function revoke(url: string, token: string, token_id: string): Promise<boolean> {
  try {
    await clientWith(url, token).call('auth.delete_token', { token_id })
    return true
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 404)) return false
    if (!(error instanceof ConnectionError)) throw error
    throw new CliError(
      error.code,
      `The token of ${url} is forgotten here, but Copse did not answer, so it still works. Revoke it in Settings, Account.`,
      { cause: error },
    )
  }
}
