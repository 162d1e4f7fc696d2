import { createTestRepository } from '../../helpers/git-repository.ts'
import type { World } from './world.ts'

const titles = {
  atlas: ['Tiles in the background', 'Search by postcode', 'Upgrade the map library'],
  lantern: ['Warn when a certificate ends', 'Probe over IPv6', 'Sort the status page by severity'],
}

/** Other projects of the same person: two with some work, one without any; answers that one's id. */
export async function makeNeighbours({ client, home }: World, opened: AsyncDisposableStack): Promise<string> {
  const make = async (name: string) => {
    const repository = opened.use(await createTestRepository({ name, within: home }))
    return (await client.call('projects.create', { name, repo_path: repository.path })).id
  }
  const scripted = await client.call('agents.create', {
    name: 'Nightly script',
    executor: 'command',
    config: { command: 'echo "Reading the certificates"; echo "Writing src/ends.ts"; exec tail -f /dev/null' },
  })
  for (const [name, list] of Object.entries(titles)) {
    const project_id = await make(name)
    for (const title of list) await client.call('tasks.create', { project_id, title, status: 'todo' })
    const first = (await client.call('tasks.list', { project_id })).items.at(-1)
    if (name === 'lantern' && first) await client.call('tasks.claim', { task_id: first.id, agent_id: scripted.id })
  }
  const codex = await client.call('agents.create', { name: 'Codex', executor: 'codex' })
  await client.call('agents.update', { agent_id: codex.id, paused: true })
  await client.call('daemons.create', { name: 'build-01' })
  return make('inkwell')
}
