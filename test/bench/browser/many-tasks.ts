import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Client } from '../../../src-shared/client/create-client.ts'

const subjects = ['deliveries', 'endpoints', 'the dead-letter queue', 'signatures', 'the dashboard', 'retries']
const verbs = ['Rate-limit', 'Document', 'Test', 'Speed up', 'Log', 'Simplify', 'Move', 'Split']
/** As many as one request may create. */
const most = 1_000
const labels = ['delivery', 'security', 'docs', 'store', 'web']

/** Writes so many tasks, a third of them waiting to be started, some of them over; answers their ids. */
export async function makeTasks(client: Client, project_id: string, count: number): Promise<TaskId[]> {
  const ids: TaskId[] = []
  for (let from = 0; from < count; from += most) {
    const items = Array.from({ length: Math.min(most, count - from) }, (_, index) => taskOf(from + index))
    ids.push(...(await client.call('tasks.create_many', { project_id, items })).items.map(({ id }) => id))
  }
  const over = ids.filter((_, number) => number % 10 === 0)
  // A few at a time: the service answers one while it reads the next.
  for (let from = 0; from < over.length; from += 8) {
    await Promise.all(over.slice(from, from + 8).map((task_id) => client.call('tasks.cancel', { task_id })))
  }
  return ids
}

const taskOf = (number: number) => ({
  title: `${verbs[number % verbs.length]} ${subjects[number % subjects.length]} for tenant ${number}`,
  description: 'What is asked for here takes a sentence or two, as most tasks do.\n\n- It works\n- It is tested',
  status: number % 3 === 0 ? 'todo' : 'backlog',
  priority: number % 5,
  labels: labels.slice(number % 5, (number % 5) + (number % 3)),
})
