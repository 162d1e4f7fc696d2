import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createContainment } from '../../../src-main/containment/create-containment.ts'
import { childEnvironment } from '../../../src-main/platform/process/process-environment.ts'
import { spawnTree } from '../../../src-main/platform/process/process.ts'
import type { ContainmentRules } from '../../../src-main/ports/containment.ts'
import type { BenchRow } from '../row.ts'

const execute = promisify(execFile)
const sizes = { full: 20, quick: 3 } as const

/**
 * The start of a program that does nothing in a worktree, contained, until its process tree has ended; the floor is the
 * same without. A round's value is the median of 20, in milliseconds.
 */
const containedStart = (level: ContainmentRules['level'], name: string): BenchRow => ({
  name,
  unit: 'ms',
  better: 'lower',
  goal: 150,
  compare: 'difference',
  rounds: { full: { warmUp: 1, measured: 5 }, quick: { warmUp: 0, measured: 1 } },
  prepare: async ({ scale }) => {
    // Not in the temporary folder, of which a contained run sees nothing.
    const folder = await mkdtemp('/var/tmp/copse-bench-box-')
    const worktree = join(folder, 'worktree')
    const git = (...args: readonly string[]) => execute('git', ['-C', join(folder, 'repository'), ...args])
    await execute('git', ['init', '-q', join(folder, 'repository')])
    await git('-c', 'user.name=B', '-c', 'user.email=b@copse.test', 'commit', '-qm', 'first', '--allow-empty')
    await git('worktree', 'add', '-q', worktree)
    const containment = createContainment({
      dataDir: join(folder, 'data'),
      workspaceRoot: join(folder, 'data', 'workspaces'),
      otherData: () => [],
      credentials: () => ['~/.claude', '~/.codex'],
      auto: 'auto',
      apiUrl: () => 'http://127.0.0.1:4870',
    })
    const start = (at: ContainmentRules['level']) => async (): Promise<void> => {
      const box = (await containment.box({ level: at, cwd: worktree })) ?? undefined
      const tree = await spawnTree('true', [], { cwd: worktree, env: childEnvironment({}), stdin: 'ignore', box })
      tree.stdout.resume()
      tree.stderr.resume()
      const { exit_code } = await tree.ended
      if (exit_code !== 0) throw new Error(`What was contained ended with ${exit_code}.`)
    }
    const { available, reason } = containment.status()
    if (!available) throw new Error(reason ?? '')
    // The library is loaded once.
    await start(level)()
    return {
      product: () => medianOf(sizes[scale], start(level)),
      floor: () => medianOf(sizes[scale], start('none')),
      verify: () => Promise.resolve(),
      [Symbol.asyncDispose]: async () => {
        await containment.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  },
})

export const containedStarts: readonly BenchRow[] = [
  containedStart('worktree', 'contained-start'),
  containedStart('worktree_and_hosts', 'contained-start-hosts'),
]

async function medianOf(times: number, run: () => Promise<void>): Promise<number> {
  const took: number[] = []
  for (let time = 0; time < times; time++) {
    const since = performance.now()
    await run()
    took.push(performance.now() - since)
  }
  return took.toSorted((a, b) => a - b)[times >> 1] ?? Infinity
}
