import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'
import { createProcessBeacon } from '../../helpers/process-beacon.ts'

test('ends an agent that was started but not yet saved when killed, and starts another', async () => {
  await using stack = new AsyncDisposableStack()
  const beacon = stack.use(await createProcessBeacon())
  const repository = stack.use(await createTestRepository())
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-crash-'))
  stack.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }))
  const first = stack.use(await startKillableApp(dataDir, 'mortal'))
  const { client } = first
  const { id: project_id } = await client.call('projects.create', { name: 'Crash', repo_path: repository.path })
  const config = { command: beacon.hold('agent', 'sleep 1000 & sleep 1000') }
  const { id: agent_id } = await client.call('agents.create', { name: 'Agent', executor: 'command', config })
  const { id: trial } = await client.call('tasks.create', { project_id, title: 'Trial' })
  const { id: task_id } = await client.call('tasks.create', { project_id, title: 'Survive' })

  // The last commit between a claim and a working agent names its process.
  first.count(null)
  await client.call('tasks.claim', { task_id: trial, agent_id })
  await first.eventually(
    async () => (await client.call('tasks.executions', { task_id: trial })).items,
    ([execution]) => execution?.status === 'running',
  )
  const way = (await first.commits()).length
  first.count({ at: 2 * way, when: 'before' })
  await client.call('tasks.claim', { task_id, agent_id }).catch(() => null)
  await first.exited
  await beacon.alive('agent', 2)

  await using second = await startKillableApp(dataDir)
  await beacon.gone('agent', 1)
  await beacon.gone('agent', 2)
  await beacon.alive('agent', 3)
  const { items } = await second.client.call('tasks.executions', { task_id })
  expect(items).toHaveLength(1)
  expect(items[0]?.status).toMatch(/queued|running/)
})
