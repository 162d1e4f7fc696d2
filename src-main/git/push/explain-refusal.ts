import { PushError, type PushRejection, type RemoteAddress } from '../../ports/branch-pusher.ts'
import type { Access } from './access.ts'
import { readableOutput, readRefusal } from './push-refusal.ts'

/** What a failure is told of. */
export interface Told {
  readonly address: RemoteAddress
  readonly access: Access
  readonly plain: (text: string) => string
  /** The remote branch. */
  readonly branch: string
}

/** Makes the error of an exchange that failed, from what git and the remote said. */
export function refusalOf(
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
  { address, access, plain, branch }: Told,
): PushError {
  const { code, reason } = readRefusal(`${stderr}\n${stdout}`)
  const output = readableOutput(`${stderr}\n${rejectedLines(stdout)}`, plain)
  const host = hostOf(access.url)
  switch (code) {
    case 'rejected':
      return new PushError(code, rejected(reason ?? 'other', host, branch), { reason: reason ?? 'other', output })
    case 'unauthorized':
      return new PushError(code, notSignedIn(host, address, access) + aboutSsh(access), { output })
    case 'forbidden':
      return new PushError(code, `The account that Copse uses at ${host} may not push to this repository.`, { output })
    case 'archived':
      return new PushError(code, `The repository is archived at ${host}, so nothing can be pushed to it.`, { output })
    case 'not_found':
      return new PushError(
        code,
        `${host} has no repository at this address, or the account may not see it. Check the address and the rights.`,
        { output },
      )
    default:
      return new PushError(code, notReached(host, output) + aboutSsh(access), { output })
  }
}

/** Makes the error of a push that the repository's own hook refused. */
export const refusalOfHook = (stderr: string, plain: (text: string) => string): PushError =>
  new PushError('rejected', 'The repository’s pre-push hook refused the push.', {
    reason: 'hook',
    output: readableOutput(stderr, plain),
  })

export const describeSilence = (url: string, ms: number): string =>
  `${hostOf(url)} didn’t answer for ${Math.ceil(ms / 1_000)} seconds. Check the network, then try again.`

/** Git's own line about the branch, in the words that it has for people. */
const rejectedLines = (stdout: string): string =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('!\t'))
    .map((line) => line.split('\t').at(-1))
    .join('\n')

function rejected(reason: PushRejection, host: string, branch: string): string {
  switch (reason) {
    case 'protected':
      return `${branch} is protected at ${host}. Allow this account to push to it, or use another branch.`
    case 'workflow_scope':
      return `The push changes a workflow file, which ${host} doesn’t allow this token. Give it the right to workflows.`
    case 'secret':
      return `${host} found a secret in the commits. Take it out of them, or allow it at ${host}, then push again.`
    case 'too_large':
      return `${host} refused the push because of its size. Take large files out of the commits, or use Git LFS.`
    case 'hook':
      return `A rule or hook of ${host} refused the push.`
    case 'moved':
      return `${branch} has moved at ${host}. Take in its commits, then push again.`
    case 'other':
      return `${host} refused the push.`
  }
}

function notSignedIn(host: string, { credential }: RemoteAddress, { kind }: Access): string {
  if (kind === 'token') return `${host} doesn’t accept the token in ${credential?.variable}. Set a valid one.`
  if (kind === 'ssh')
    return `${host} accepts none of your SSH keys. Add one there; a key with a passphrase must be in the SSH agent.`
  return `git isn’t signed in to ${host}. Push there once with git in a terminal, so that it keeps the password.`
}

const aboutSsh = ({ ignoresSshCommand }: Access): string =>
  ignoresSshCommand
    ? ' The repository’s core.sshCommand wasn’t used, because it isn’t what it was when you added the repository: ' +
      'set its path again (Settings, Repositories) to trust it.'
    : ''

function notReached(host: string, output: string): string {
  if (/Host key verification failed/i.test(output))
    return `The SSH host key of ${host} isn’t known, or has changed. Connect to it once with ssh in a terminal.`
  if (/certificate|\b(?:SSL|TLS)\b/i.test(output))
    return `No secure connection to ${host}: its certificate isn’t trusted. Set http.sslCAInfo in your git configuration.`
  if (/returned error: (?:5\d\d|429)|HTTP (?:5\d\d|429)/.test(output))
    return `${host} can’t take the push at the moment. Try again later.`
  return `${host} can’t be reached. Check the address and the network, then try again.`
}

/** The host of a URL or of `user@host:path`, with its port. */
function hostOf(url: string): string {
  if (URL.canParse(url) && new URL(url).host !== '') return new URL(url).host
  return /^(?:[^@/]*@)?(\[[^\]]+\]|[^:/]+):/.exec(url)?.[1] ?? 'The remote'
}
