import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { SshConfig } from '../../../src-shared/contract/runners.ts'
import { afterwards } from '../../../src-shared/lang/afterwards.ts'
import { childEnvironment } from '../../platform/process/process-environment.ts'
import { quoted } from '../../platform/process/process-shell.ts'
import { spawnTree, type ProcessTree } from '../../platform/process/process.ts'
import type { Cancellable } from '../../ports/cancellable.ts'

/** The machine of an SSH runner, and the folder there. */
export interface SshTarget {
  readonly config: SshConfig
  /** Relative to the home there, or absolute. */
  readonly folder: string
}

/** What a command there has said. */
export interface SshAnswer {
  readonly exit_code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** ssh itself failed, in its words. */
export const sshFailed = 255

/** Never asks, never trusts a new key, and carries nothing but this command. */
const options = [
  ['BatchMode', 'yes'],
  ['StrictHostKeyChecking', 'yes'],
  ['ConnectTimeout', '20'],
  ['ServerAliveInterval', '15'],
  ['ServerAliveCountMax', '3'],
  ['ClearAllForwardings', 'yes'],
  ['ForwardAgent', 'no'],
  ['ForwardX11', 'no'],
  ['PermitLocalCommand', 'no'],
  // A connection that exists is used, and none is left behind.
  ['ControlMaster', 'no'],
  ['RequestTTY', 'no'],
] as const

/** Returns the arguments of `ssh` for a command of a POSIX shell there. */
function sshArguments({ config }: SshTarget, script: string): readonly string[] {
  const { host, port, ssh_config } = config
  return [
    ...(ssh_config === undefined ? [] : ['-F', ssh_config]),
    ...options.flatMap(([name, value]) => ['-o', `${name}=${value}`]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    '--',
    host,
    // Whatever shell the account there has.
    `exec sh -c ${quoted([script])}`,
  ]
}

/** The beginning of every command there: its folder, and where Node may be that a login alone would find. */
export const inFolder = (folder: string): string =>
  [
    'umask 077',
    `mkdir -p -- ${quoted([folder])} && cd -- ${quoted([folder])} || exit 3`,
    'PATH="$PATH:/usr/local/bin:$HOME/.local/bin:$HOME/.volta/bin:/opt/homebrew/bin"',
    'for bin in "$HOME"/.nvm/versions/node/*/bin /opt/node/bin; do [ -x "$bin/node" ] && PATH="$PATH:$bin"; done',
    'export PATH',
  ].join('\n')

/** Starts `ssh` with a command there. Rejects with `ProcessStartError` where there is no ssh. */
export async function startSsh(target: SshTarget, script: string): Promise<ProcessTree & { readonly stdin: Writable }> {
  const tree = await spawnTree('ssh', sshArguments(target, script), {
    cwd: '/',
    env: childEnvironment({}),
    stdin: 'pipe',
  })
  if (tree.stdin === null) throw new Error('ssh has no input.')
  return { ...tree, stdin: tree.stdin }
}

/** Runs a command there to its end, with `input` as its input. */
export async function runSsh(
  target: SshTarget,
  script: string,
  { input = '', signal }: Cancellable & { readonly input?: string | Uint8Array },
): Promise<SshAnswer> {
  const tree = await startSsh(target, script)
  const stop = (): void => void tree.stop({ graceMs: 1_000 })
  signal.addEventListener('abort', stop, { once: true })
  tree.stdin.on('error', () => undefined)
  tree.stdin.end(input)
  const said = Promise.all([endOf(tree.stdout), endOf(tree.stderr), tree.ended])
  const [stdout, stderr, { exit_code }] = await afterwards(said, () => {
    signal.removeEventListener('abort', stop)
    return Promise.resolve()
  })
  signal.throwIfAborted()
  return { exit_code, stdout, stderr }
}

const maxSaid = 64 * 1024

async function endOf(stream: Readable): Promise<string> {
  return (await text(stream)).slice(-maxSaid)
}
