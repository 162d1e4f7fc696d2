import { settleOrAbort } from '../../platform/locks/settle-or-abort.ts'
import { childEnvironment } from '../../platform/process/process-environment.ts'
import { spawnTree } from '../../platform/process/process.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { deniedNote } from '../../domain/access/containment.ts'
import { ContainmentUnavailable, type ContainedBox, type Containment, type Denial } from '../../ports/containment.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { WorktreeRequest } from '../../ports/worktree-store.ts'

const tailBytes = 10 * 1024

interface SetupOptions extends Cancellable, Pick<WorktreeRequest, 'env' | 'processMarker' | 'containment'> {
  readonly contain: Pick<Containment, 'box'> | undefined
}

/** Runs the setup commands in order. Throws `setup_failed` with the end of the command's output. */
export async function runSetup(worktree: string, commands: readonly string[], options: SetupOptions): Promise<void> {
  const { signal, env, processMarker } = options
  const denied: Denial[] = []
  signal.throwIfAborted()
  const boxing = commands.length > 0 ? boxFor(worktree, options, (denial) => denied.push(denial)) : undefined
  // An image can take long to build. The next command finds it.
  if (boxing) await settleOrAbort(boxing, signal)
  signal.throwIfAborted()
  const box = await boxing
  for (const command of commands) {
    signal.throwIfAborted()
    const [shell, flag] = process.platform === 'win32' ? ['cmd', '/c'] : ['sh', '-c']
    const place = { cwd: worktree, env: childEnvironment(env), box, stdin: 'ignore' } as const
    const tree = await spawnTree(
      shell,
      [flag, command],
      processMarker === undefined ? place : { ...place, processMarker },
    )
    const tail = readTail([tree.stdout, tree.stderr])
    const stop = (): void => void tree.stop()
    signal.addEventListener('abort', stop, { once: true })
    const { exit_code } = await tree.ended
    signal.removeEventListener('abort', stop)
    signal.throwIfAborted()
    if (exit_code === 0) continue
    const output = await tail
    box?.onOutput(output)
    const note = deniedNote(denied)
    throw new WorkspaceError(
      'setup_failed',
      `The setup command “${command}” ended with exit code ${exit_code}.\n${output}${note === null ? '' : `\n${note}`}`,
    )
  }
}

async function boxFor(
  cwd: string,
  { contain, containment, env }: SetupOptions,
  onDenied: (denial: Denial) => void,
): Promise<ContainedBox | undefined> {
  try {
    return (
      (containment && (await contain?.box({ ...containment, cwd, onDenied, variables: Object.keys(env) }))) ?? undefined
    )
  } catch (error) {
    if (!(error instanceof ContainmentUnavailable)) throw error
    throw new WorkspaceError('setup_failed', `The setup commands were not run. ${error.message}`, { cause: error })
  }
}

async function readTail(streams: readonly AsyncIterable<Uint8Array>[]): Promise<string> {
  let tail = Buffer.alloc(0)
  await Promise.all(
    streams.map(async (stream) => {
      for await (const chunk of stream) tail = Buffer.concat([tail, chunk]).subarray(-tailBytes)
    }),
  )
  // A cut within a character leaves continuation bytes at the start.
  let start = 0
  while (start < 4 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1
  return tail.subarray(start).toString('utf8')
}
