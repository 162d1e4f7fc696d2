import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Client } from '../../../src-shared/client/create-client.ts'

const subjects = ['deliveries', 'endpoints', 'the dead-letter queue', 'signatures', 'the dashboard', 'retries']
const verbs = ['Rate-limit', 'Document', 'Test', 'Speed up', 'Log', 'Simplify', 'Move', 'Split']
const labels = ['delivery', 'security', 'docs', 'store', 'web']

/** Writes so many tasks, a third of them waiting to be started, some of them over; answers their ids. */
export async function makeTasks(client: Client, project_id: string, count: number): Promise<TaskId[]> {
  const ids: TaskId[] = []
  const make = async (number: number) => {
    const { id } = await client.call('tasks.create', {
      project_id,
      title: `${verbs[number % verbs.length]} ${subjects[number % subjects.length]} for tenant ${number}`,
      description: 'What is asked for here takes a sentence or two, as most tasks do.\n\n- It works\n- It is tested',
      status: number % 3 === 0 ? 'todo' : 'backlog',
      priority: number % 5,
      labels: labels.slice(number % 5, (number % 5) + (number % 3)),
    })
    ids.push(id)
    if (number % 10 === 0) await client.call('tasks.cancel', { task_id: id })
  }
  // A few at a time: the service answers one while it reads the next.
  for (let number = 0; number < count; number += 8) {
    await Promise.all(Array.from({ length: Math.min(8, count - number) }, (_, more) => make(number + more)))
  }
  return ids
}
