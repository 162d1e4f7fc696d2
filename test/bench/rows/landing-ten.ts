import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { eventually } from '../../helpers/eventually.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { memoryFolder } from '../memory-folder.ts'
import { startProduct } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const execute = promisify(execFile)
const sizes = { full: { tasks: 10, seconds: 10 }, quick: { tasks: 2, seconds: 0.2 } } as const

/**
 * Ten reviewed tasks that land together on a base that has moved on, with checks of 10 s and four runs at a time, from
 * the first request to the last answer. The floor is one run of the checks by hand; one after the other they would take
 * ten times that.
 */
export const landingTen: BenchRow = {
  name: 'landing-ten-tasks',
  unit: 'ms',
  better: 'lower',
  goal: 3,
  rounds: { full: { warmUp: 0, measured: 1 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare({ scale, build, say }: Setting): Promise<Contest> {
  const { tasks: count, seconds } = sizes[scale]
  const check = `sleep ${seconds}`
  await using opened = new AsyncDisposableStack()
  const within = await memoryFolder()
  const repository = opened.use(await createTestRepository({ within }))
  const { client } = opened.use(await startProduct(build, within))
  const { id: project_id } = await client.call('projects.create', { name: 'Landing', repo_path: repository.path })
  const landing = { mode: 'speculative' as const, steps: [check], max_parallel: 4, retry_failed: false }
  await client.call('projects.update_settings', { project_id, landing, max_concurrent_executions: 2 })
  const config = { command: 'echo $SVC_TASK_ID > "$SVC_TASK_ID.txt"; echo done' }
  const agent = await client.call('agents.create', { name: 'Scripted', executor: 'command', config })
  const readyTask = async (number: number): Promise<Task> => {
    const task = await client.call('tasks.create', { project_id, title: `Task ${number}` })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const read = () => client.call('tasks.get', { task_id: task.id })
    return await eventually(client, read, (one) => one.review_passed_at !== null && !one.entry_barrier)
  }
  const merge = ({ id: task_id, version }: Task) =>
    client.call('tasks.transition', { task_id, status: 'merging', version })
  const owned = opened.move()
  return {
    product: async () => {
      say(`  making ${count} tasks ready`)
      const ready = await Promise.all(Array.from({ length: count }, (_, number) => readyTask(number)))
      await repository.commit('theirs', { [`theirs-${Date.now()}.txt`]: 'x\n' })
      const since = performance.now()
      const answers = await Promise.all(ready.map(merge))
      const took = performance.now() - since
      const results = answers.map(({ landing: end }) => end?.result)
      if (results.some((result) => result !== 'landed')) throw new Error(`They came to ${results.join(', ')}.`)
      for (const { id } of ready) await repository.git(['cat-file', '-e', `main:${id}.txt`])
      return took
    },
    floor: async () => {
      const since = performance.now()
      await execute('sh', ['-c', check])
      return performance.now() - since
    },
    verify: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
