import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { memoryFolder } from '../memory-folder.ts'
import { usageOf } from '../process-usage.ts'
import { startProduct } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'
import { someAtOnce } from '../some-at-once.ts'

const sizes = {
  full: { worktrees: 200, files: 1_000, seconds: 12 },
  quick: { worktrees: 2, files: 10, seconds: 1 },
} as const
/** What a process that does nothing may come to hold, by its own tidying up. */
const growthBytes = 8 * 1024 * 1024

/**
 * What the service takes of one core, in hundredths, while nothing happens: 200 tasks are at work, each in a live
 * worktree of 1,000 files, and a client listens to the events. The processes that it starts count too. The floor is one
 * hundredth, the most that may be taken: a goal of 1 says that it stays below. The run fails also when the process holds
 * more memory after the last round than after the first one.
 */
export const idleWorktrees: BenchRow = {
  name: 'idle-200-worktrees',
  unit: '% of a core',
  better: 'lower',
  goal: 1,
  idle: true,
  rounds: { full: { warmUp: 1, measured: 2 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare({ scale, build, say }: Setting): Promise<Contest> {
  const { worktrees, files, seconds } = sizes[scale]
  await using opened = new AsyncDisposableStack()
  say(`  making ${worktrees} worktrees of ${files} files`)
  const within = await memoryFolder()
  const content = Object.fromEntries(Array.from({ length: files }, (_, n) => [`src/${n % 20}/${n}.ts`, `// ${n}\n`]))
  const repository = opened.use(await createTestRepository({ files: content, within }))
  const product = opened.use(await startProduct(build, within))
  const { client } = product
  const { id: project_id } = await client.call('projects.create', { name: 'Idle', repo_path: repository.path })
  await someAtOnce(worktrees, availableParallelism(), async (number) => {
    const { id: task_id } = await client.call('tasks.create', { project_id, title: `Task ${number}` })
    // A person is at work: nothing but the worktree is there.
    await client.call('tasks.claim', { task_id })
  })
  const stop = new AbortController()
  const listening = listen(client.events({}, null, stop.signal))
  opened.defer(async () => {
    stop.abort()
    await listening
  })
  const memory: number[] = []
  const owned = opened.move()
  return {
    product: async () => {
      const before = await usageOf(product.pid)
      const since = performance.now()
      await setTimeout(seconds * 1_000)
      const after = await usageOf(product.pid)
      memory.push(after.memory)
      // The clock of the system counts in steps: none of them is still not nothing.
      return Math.max(0.001, ((after.cpu_ms - before.cpu_ms) / (performance.now() - since)) * 100)
    },
    floor: () => Promise.resolve(1),
    verify: async () => {
      const live = (await repository.git(['worktree', 'list', '--porcelain'])).split('\n\n').length - 1
      if (live !== worktrees) throw new Error(`${live} of ${worktrees} worktrees are there.`)
      const [first = 0, last = 0] = [memory[0], memory.at(-1)]
      say(`  memory: ${memory.map((bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MB`).join(', ')}`)
      if (last - first > growthBytes) throw new Error(`It held ${first} bytes at first and ${last} in the end.`)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function listen(events: AsyncIterable<unknown>): Promise<number> {
  let heard = 0
  for await (const _ of events) heard += 1
  return heard
}
