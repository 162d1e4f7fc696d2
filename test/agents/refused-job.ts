import type { Task } from '../../src-shared/contract/tasks.ts'
import { scripted, type ModelStep } from '../fakes/model-server.ts'
import type { RunningApp } from '../helpers/running-app.ts'
import type { AgentBench } from './agent-bench.ts'

/**
 * Gives an agent a task whose check refuses the first attempt, and returns the task once the second has passed. A
 * session that continues gets only the check's output.
 */
export async function passAfterRefusal(
  bench: AgentBench,
  running: RunningApp,
  { project_id, agent_id, steps }: { project_id: string; agent_id: string; steps: readonly ModelStep[] },
): Promise<Task> {
  const { client } = running
  const more = [{ write: { path: 'second.txt', content: 'second\n' } }, { say: 'second.txt is there too.' }]
  const again = scripted('There is no second.txt.', more)
  const task = await client.call('tasks.create', {
    project_id,
    title: 'Greet',
    description: scripted('Write greet.txt.', steps),
    review_config: { ci_steps: [`test -f second.txt || { printf '%s' '${again}'; exit 1; }`] },
  })
  await client.call('tasks.claim', { task_id: task.id, agent_id })
  // Some take longer than the usual wait for a task.
  await bench.model.waitForCall(({ index }) => index === steps.length - 1)
  await running.taskWhere(task.id, (one) => one.review_summary !== null)
  await bench.model.waitForCall(({ index, said }) => index === more.length - 1 && said.includes('There is no second'))
  return await running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
}
