import Database from 'better-sqlite3'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

function opened(job: Job): Disposable & { run(sql: string): void } {
  const database = new Database(join(job.running.dataDir, 'copse.db'))
  return {
    run: (sql) => void database.prepare(sql).run(),
    [Symbol.dispose]: () => void database.close(),
  }
}

const commandOf = (job: Job) => `cat ${job.running.dataDir}/secret > seen.txt; echo work > work.txt`

/** What an agent and a setup command of a new project can read of the data folder. */
async function seen(job: Job, made?: Agent): Promise<readonly string[]> {
  await writeFile(join(job.running.dataDir, 'secret'), 'not for runs')
  await job.settings({ setup_commands: [`cat ${job.running.dataDir}/secret > setup.txt || true`] })
  const { task, path } = await job.claim(await job.task(), made ?? (await job.agent(commandOf(job))))
  await job.running.taskWhere(task.id, ({ status }) => status === 'review')
  return await Promise.all(['seen.txt', 'setup.txt'].map((name) => readFile(join(path, name), 'utf8')))
}

it('contains new agents and projects where the machine can', async ({ skip }) => {
  await using job = await startJob({ config: { containment: 'auto' } })
  const { containment } = await job.running.client.call('system.get', {})
  if (!containment.available && process.env['CI'] === undefined) skip(containment.reason ?? '')
  expect(await job.running.client.call('projects.get_settings', { project_id: job.project.id })).toMatchObject({
    ci_containment: 'auto',
  })
  expect(await seen(job)).toEqual(['', ''])
})

it('contains nothing for auto under SVC_CONTAINMENT=none, and says so', async () => {
  await using job = await startJob({ config: { containment: 'none' } })
  const { containment } = await job.running.client.call('system.get', {})
  expect(containment.reason).toContain(containment.available ? 'SVC_CONTAINMENT is none' : 'Not found')
  expect(await seen(job)).toEqual(['not for runs', 'not for runs'])
})

it('leaves existing agents and projects as they were', async () => {
  await using job = await startJob({ config: { containment: 'auto' } })
  const older = await job.agent(commandOf(job))
  using database = opened(job)
  database.run(`UPDATE agents SET config = json_remove(config, '$.containment')`)
  database.run(`UPDATE projects SET settings = '{}'`)
  job.running = await job.running.restart()
  const { client } = job.running
  expect((await client.call('agents.get', { agent_id: older.id })).config.containment).toBeUndefined()
  expect(await client.call('projects.get_settings', { project_id: job.project.id })).toMatchObject({
    ci_containment: 'none',
  })
  expect(await seen(job, older)).toEqual(['not for runs', 'not for runs'])
})

it('keeps the level in a change that does not name it', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('true')
  const open = await client.call('agents.update', {
    agent_id: agent.id,
    config: { command: 'true', containment: 'none' },
  })
  expect(open.config.containment).toBe('none')
  const kept = await client.call('agents.update', { agent_id: agent.id, config: { command: 'false' } })
  expect(kept.config).toEqual({ command: 'false', containment: 'none' })
})

it('does not contain a remote agent, and refuses to', async () => {
  await using job = await startJob()
  const { client } = job.running
  const made = await client.call('agents.create', { name: 'Elsewhere', executor: 'external' })
  expect(made.config.containment).toBeUndefined()
  for (const containment of ['auto', 'worktree', 'worktree_and_hosts'] as const) {
    const config = { containment }
    const create = client.call('agents.create', { name: 'Elsewhere', executor: 'external', config })
    const update = client.call('agents.update', { agent_id: made.id, config })
    for (const call of [create, update])
      expect(await refused(call), containment).toMatchObject({ code: 'validation_failed' })
  }
})
