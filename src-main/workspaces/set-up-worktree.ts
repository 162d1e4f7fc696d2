import { cp, glob, lstat, mkdir, realpath } from 'node:fs/promises'
import { constants } from 'node:fs'
import { dirname, join } from 'node:path'
import { childEnvironment } from '../base/process-environment.ts'
import { spawnTree } from '../base/process.ts'
import { WorkspaceError } from '../engine/ports.ts'
import type { Cancellable, WorktreeRequest } from '../engine/ports.ts'
import { orNull } from './file-errors.ts'
import { isInside, pathInside } from './path-guard.ts'

const tailBytes = 10 * 1024

/**
 * Copies files that git does not track (`.env` and the like) from the repository's checkout into the worktree.
 * `patterns` are paths or globs relative to the repository's root; what does not exist is passed over, what the
 * worktree has is kept. Throws `outside_worktree` for what leads out of either.
 */
export async function copyFiles(root: string, worktree: string, patterns: readonly string[]): Promise<void> {
  const realRoot = await realpath(root)
  for (const pattern of patterns) {
    await pathInside(realRoot, pattern)
    for await (const match of glob(pattern, { cwd: realRoot, exclude: (name) => name === '.git' })) {
      const source = await pathInside(realRoot, match)
      const target = await pathInside(worktree, match)
      await mkdir(dirname(target), { recursive: true })
      await cp(source, target, {
        recursive: true,
        force: false,
        mode: constants.COPYFILE_FICLONE,
        verbatimSymlinks: true,
        filter: (from) => staysInside(realRoot, from),
      })
    }
  }
}

/** Runs the setup commands one after the other. Throws `setup_failed` with the end of what the command said. */
export async function runSetup(
  worktree: string,
  commands: readonly string[],
  { signal, env, mark }: Cancellable & Pick<WorktreeRequest, 'env' | 'mark'>,
): Promise<void> {
  for (const command of commands) {
    signal.throwIfAborted()
    const [shell, flag] = process.platform === 'win32' ? ['cmd', '/c'] : ['sh', '-c']
    const place = { cwd: worktree, env: childEnvironment(env), stdin: 'ignore' } as const
    const tree = await spawnTree(shell, [flag, command], mark === undefined ? place : { ...place, mark })
    const tail = keepTail([tree.stdout, tree.stderr])
    const stop = (): void => void tree.stop()
    signal.addEventListener('abort', stop, { once: true })
    const { exit_code } = await tree.ended
    signal.removeEventListener('abort', stop)
    signal.throwIfAborted()
    if (exit_code === 0) continue
    throw new WorkspaceError(
      'setup_failed',
      `The setup command "${command}" ended with exit code ${exit_code}.\n${await tail}`,
    )
  }
}

/** A link inside a copied folder that leads out of the repository is left behind. */
async function staysInside(root: string, path: string): Promise<boolean> {
  if (path === join(root, '.git')) return false
  if (!(await lstat(path)).isSymbolicLink()) return true
  const real = await orNull(realpath(path))
  return real !== null && isInside(root, real)
}

async function keepTail(streams: readonly AsyncIterable<Uint8Array>[]): Promise<string> {
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
