import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { PushError, type GitCredential, type RemoteAddress } from '../../ports/branch-pusher.ts'
import type { ConfigEntry } from '../commands/configured-programs.ts'
import type { Setting } from '../commands/git-environment.ts'

/** How git gets in: nothing of it asks a person. */
export interface Access {
  readonly kind: 'token' | 'helper' | 'ssh'
  /** The URL to use; without a user of its own where the token has one. */
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  readonly settings: readonly Setting[]
  /** The repository has a `core.sshCommand` that isn't used. */
  readonly ignoresSshCommand: boolean
  /** What no text may contain. */
  readonly secrets: readonly string[]
}

/**
 * Prepares what opens a remote. The token is in the environment of git and of what it starts; the script in `folder`
 * gives it to git (and to git-lfs, which asks in its own way) for its own origin alone, so a redirect or a rewritten URL
 * can't lead it elsewhere. No helper is asked beside it, because git would also tell the helper to keep it.
 */
export async function prepareAccess(
  { url, credential }: Pick<RemoteAddress, 'url' | 'credential'>,
  { folder, sshCommand, ignoresSshCommand }: { readonly folder: string } & SshUse,
): Promise<Access> {
  const askpass = join(folder, 'askpass')
  await writeFile(askpass, askpassScript, { mode: 0o700 })
  const quiet = {
    // Without an answer of the script git would try programs that open a window.
    GIT_ASKPASS: askpass,
    GIT_SSH_COMMAND: sshCommand,
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
  }
  const settings: readonly Setting[] = [['credential.interactive', 'false']]
  const parsed = parseHttp(url)
  const shared = { ignoresSshCommand: ignoresSshCommand && parsed === null }
  if (parsed === null) return { ...shared, kind: 'ssh', url, env: quiet, settings, secrets: [] }
  if (credential === null || new URL(credential.origin).origin !== parsed.origin) {
    const secrets = [parsed.password, decoded(parsed.password)].filter((one) => one !== '')
    return { ...shared, kind: 'helper', url, env: quiet, settings, secrets }
  }
  const token = readToken(credential)
  const { user } = credential
  return {
    ...shared,
    kind: 'token',
    url: `${parsed.origin}${parsed.pathname}`,
    env: { ...quiet, ...askpassVariables(parsed, user, token) },
    settings: [
      ...settings,
      ['credential.helper', ''],
      [`credential.${parsed.origin}.helper`, ''],
      // A moved repository may be found again, but only by the first request, which has no token.
      ['http.followRedirects', 'initial'],
    ],
    secrets: [token, Buffer.from(`${user}:${token}`).toString('base64')],
  }
}

/** How git starts SSH. */
interface SshUse {
  readonly sshCommand: string
  readonly ignoresSshCommand: boolean
}

/** Returns the command by which git starts SSH: the user's own, told not to ask. `trusted`: the repository's. */
export function chooseSsh(
  entries: readonly ConfigEntry[],
  trusted: string | null,
  env: Readonly<Record<string, string | undefined>> = process.env,
): SshUse {
  const isSet = entries.some(({ scope, key }) => !isOuter(scope) && key === 'core.sshcommand')
  return { sshCommand: sshCommandFor(entries, trusted, env), ignoresSshCommand: isSet && trusted === null }
}

function sshCommandFor(
  entries: readonly ConfigEntry[],
  trusted: string | null,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const configured = entries.findLast(({ scope, key }) => isOuter(scope) && key === 'core.sshcommand')?.value
  const plain = env['GIT_SSH'] ? `'${env['GIT_SSH'].replaceAll("'", String.raw`'\''`)}'` : 'ssh'
  const command = env['GIT_SSH_COMMAND'] || trusted || configured || plain
  const [, program = ''] = /^\s*(?:'([^']*)'|"([^"]*)"|(\S+))/.exec(command)?.filter(Boolean) ?? []
  const name = basename(program.replaceAll('\\', '/'))
    .replace(/\.exe$/i, '')
    .toLowerCase()
  if (name === 'plink' || name === 'tortoiseplink') return `${command} -batch`
  // Options of another program aren't known.
  return name === 'ssh' ? `${command} -o BatchMode=yes -o ConnectTimeout=30` : command
}

/** Returns whether a setting is the user's or the machine's, not the repository's. */
export const isOuter = (scope: string): boolean => scope === 'global' || scope === 'system'

const askpassScript = `#!/bin/sh
# Answers for one origin. What is asked begins as by git or as by git-lfs.
case "$1" in
  "Username for '$COPSE_GIT_ORIGIN'"*|"Username for '$COPSE_GIT_ORIGIN/"*) ;;
  "Username for \\"$COPSE_GIT_ORIGIN\\""*|"Username for \\"$COPSE_GIT_ORIGIN/"*) ;;
  "Password for '$COPSE_GIT_USER_ORIGIN'"*|"Password for '$COPSE_GIT_USER_ORIGIN/"*) password=1 ;;
  "Password for \\"$COPSE_GIT_USER_ORIGIN\\""*|"Password for \\"$COPSE_GIT_USER_ORIGIN/"*) password=1 ;;
  *) exit 1 ;;
esac
[ -n "$COPSE_GIT_ORIGIN" ] || exit 1
if [ -n "$password" ]; then printf '%s\\n' "$COPSE_GIT_TOKEN"; else printf '%s\\n' "$COPSE_GIT_USER"; fi
`

const askpassVariables = ({ protocol, host, origin }: URL, user: string, token: string): Record<string, string> => ({
  COPSE_GIT_ORIGIN: origin,
  COPSE_GIT_USER_ORIGIN: `${protocol}//${encodeURIComponent(user)}@${host}`,
  COPSE_GIT_USER: user,
  COPSE_GIT_TOKEN: token,
})

function readToken({ variable }: GitCredential): string {
  const token = process.env[variable]?.trim() ?? ''
  if (/^[\x21-\x7e]+$/.test(token)) return token
  const message =
    token === ''
      ? `The environment variable ${variable} is not set. Set it where Copse is started, and start Copse again.`
      : `The environment variable ${variable} doesn’t hold a token. Set it again, and start Copse again.`
  throw new PushError('missing_secret', message, {})
}

function parseHttp(url: string): URL | null {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return null
  return new URL(url)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
