import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { eventually } from '../../helpers/eventually.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { memoryFolder } from '../memory-folder.ts'
import { usageOf } from '../process-usage.ts'
import { startProduct } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'
import { someAtOnce } from '../some-at-once.ts'

const sizes = {
  full: { repositories: 5, tasks: 40, seconds: 12 },
  quick: { repositories: 2, tasks: 1, seconds: 1 },
} as const

/**
 * What the service takes of one core, in hundredths, while nothing happens: 200 tasks with commits of their own wait for
 * a review, 40 in each of five repositories, and it watches whether their bases come to conflict with them. The processes
 * that it starts count too. The floor is one hundredth: a goal of 1 says that it stays below.
 */
export const idleWaiting: BenchRow = {
  name: 'idle-200-waiting',
  unit: '% of a core',
  better: 'lower',
  goal: 1,
  idle: true,
  rounds: { full: { warmUp: 1, measured: 2 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare({ scale, build, say }: Setting): Promise<Contest> {
  const { repositories, tasks, seconds } = sizes[scale]
  await using opened = new AsyncDisposableStack()
  say(`  making ${tasks} tasks that wait in each of ${repositories} repositories`)
  const within = await memoryFolder()
  const product = opened.use(await startProduct(build, within))
  const { client } = product
  const projects: string[] = []
  for (let number = 0; number < repositories; number++) {
    const repository = opened.use(await createTestRepository({ files: { 'a.ts': 'const a = 1\n' }, within }))
    const { id: project_id } = await client.call('projects.create', {
      name: `Waits ${number}`,
      repo_path: repository.path,
    })
    projects.push(project_id)
    await someAtOnce(tasks, availableParallelism(), async (nth) => {
      const { id: task_id } = await client.call('tasks.create', { project_id, title: `Task ${nth}` })
      const { execution, workspace } = await client.call('tasks.claim', { task_id })
      await repository.commit('work', { [`${nth}.ts`]: 'const b = 2\n' }, workspace?.path)
      await client.call('executions.finish', { execution_id: execution?.id ?? '', status: 'succeeded' })
    })
  }
  const waiting = async () => {
    const all = await Promise.all(projects.map((project_id) => client.call('tasks.list', { project_id, limit: 200 })))
    return all
      .flatMap(({ items }) => items)
      .filter(({ status, entry_barrier }) => status === 'review' && !entry_barrier)
  }
  await eventually(client, waiting, (items) => items.length === repositories * tasks)
  const owned = opened.move()
  return {
    product: async () => {
      const before = await usageOf(product.pid)
      const since = performance.now()
      await setTimeout(seconds * 1_000)
      const after = await usageOf(product.pid)
      // The clock of the system counts in steps: none of them is still not nothing.
      return Math.max(0.001, ((after.cpu_ms - before.cpu_ms) / (performance.now() - since)) * 100)
    },
    floor: () => Promise.resolve(1),
    verify: async () => {
      const { length } = await waiting()
      if (length !== repositories * tasks) throw new Error(`${length} of ${repositories * tasks} tasks wait.`)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
