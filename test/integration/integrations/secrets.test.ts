import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import { startIntegrationJob, type IntegrationJob } from '../../helpers/integration-job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { refused, refusalOf } from '../../helpers/refusal.ts'

/** The same tracker by another name, as a person could name a host of their own. */
const otherHost = (at: IntegrationJob) => at.tracker.url.replace('127.0.0.1', 'localhost')

/** Another owner of the project, who is no admin. */
async function ownerOf({ job }: IntegrationJob): Promise<Client> {
  const { client, user_id } = await register(job.running, 'Olga')
  await addMember(job.running, job.project.id, user_id, 'owner')
  return client
}

test('sends a variable to the first host only, unless an admin allows another', async () => {
  await using at = await startIntegrationJob()
  const { client } = at.job.running
  const owner = await ownerOf(at)
  const project_id = at.job.project.id
  at.tracker.repositories.set('octo/hello', [{ number: 1, title: 'One' }])
  await at.integrate()
  // Nothing was sent yet, so any host is allowed.
  const there = { project_id, base_url: otherHost(at) }
  await owner.call('integrations.update', there)
  await owner.call('integrations.update', { project_id, base_url: at.tracker.url })
  expect((await at.sync()).imported).toBe(1)

  const before = await at.integration()
  const requests = at.tracker.requests.length
  const refusal = await refused(owner.call('integrations.update', there))
  expect([refusal.code, refusal.status]).toEqual(['secret_bound', 409])
  expect(refusal.message).toContain(at.secret)
  expect(refusal.message).not.toContain(at.tracker.token)
  const mine = await owner.call('projects.create', { name: 'Olga’s', repo_path: at.job.repository.path })
  const elsewhere = {
    ...({ platform: 'selfhosted', base_url: otherHost(at), owner: 'octo', repo: 'hello' } as const),
    token_secret_ref: at.secret,
  }
  expect(await refusalOf(owner.call('integrations.create', { ...elsewhere, project_id: mine.id }))).toBe('secret_bound')
  expect([await at.integration(), at.tracker.requests.length]).toEqual([before, requests])

  // Another port of this machine is the same host; an admin binds it again, which excludes the first host.
  await client.call('integrations.update', there)
  await at.sync()
  expect(await refusalOf(owner.call('integrations.update', { project_id, base_url: at.tracker.url }))).toBe(
    'secret_bound',
  )
})

test('sends a variable only for the first of two integrations that name it', async () => {
  await using at = await startIntegrationJob()
  const owner = await ownerOf(at)
  at.tracker.repositories.set('octo/hello', [])
  await at.integrate()
  const mine = await owner.call('projects.create', { name: 'Olga’s', repo_path: at.job.repository.path })
  await owner.call('integrations.create', {
    project_id: mine.id,
    platform: 'hosted',
    base_url: otherHost(at),
    owner: 'octo',
    repo: 'hello',
    token_secret_ref: at.secret,
    poll_interval_secs: 86_400,
  })
  await at.sync()
  const requests = at.tracker.requests.length
  expect(await refusalOf(owner.call('integrations.sync', { project_id: mine.id }))).toBe('secret_bound')
  expect(at.tracker.requests).toHaveLength(requests)
})

test('hides an integration’s variable from agents and checks, and redacts its value', async () => {
  await using at = await startIntegrationJob()
  const name = `TRACKER_TOKEN_${process.pid}`
  process.env[name] = 'tracker value of this test'
  try {
    await at.integrate({ token_secret_ref: name })
    const agent = await at.job.agent(
      'echo "*.txt" > .gitignore; env > agent.txt; echo "it is tracker value of this test"; echo done',
    )
    const task = await at.job.task({ review_config: { ci_steps: ['env > ci.txt'] } })
    const { path } = await at.job.claim(task, agent)
    await at.job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
    for (const file of ['agent.txt', 'ci.txt']) {
      expect(await readFile(join(path, file), 'utf8'), file).not.toContain('tracker value')
    }
    const { client } = at.job.running
    const comment = await client.call('comments.create', { task_id: task.id, body: 'See tracker value of this test!' })
    expect(comment.body).toBe('See [redacted]!')
    const [run] = await at.job.executions(task.id)
    expect(JSON.stringify(run)).not.toContain('tracker value')
  } finally {
    Reflect.deleteProperty(process.env, name)
  }
})

test('lets an owner who is no admin name only SVC_SECRET_ variables on an exposed service', async () => {
  await using at = await startIntegrationJob({ config: { host: '0.0.0.0' } })
  const owner = await ownerOf(at)
  const project_id = at.job.project.id
  const fields = {
    ...({ project_id, platform: 'hosted', base_url: at.tracker.url, owner: 'octo', repo: 'hello' } as const),
  }
  const refusal = await refused(owner.call('integrations.create', { ...fields, token_secret_ref: 'GITHUB_TOKEN' }))
  expect([refusal.code, refusal.status]).toEqual(['secret_ref_forbidden', 403])
  const never = await refused(owner.call('integrations.create', { ...fields, token_secret_ref: 'SVC_DATA_DIR' }))
  expect([never.code, never.status]).toEqual(['secret_ref_forbidden', 400])
  await owner.call('integrations.create', { ...fields, token_secret_ref: at.secret })
  for (const field of ['token_secret_ref', 'webhook_secret_ref']) {
    const update = owner.call('integrations.update', { project_id, [field]: 'GITHUB_TOKEN' })
    expect((await refused(update)).status, field).toBe(403)
  }
  await at.job.running.client.call('integrations.update', { project_id, token_secret_ref: 'GITHUB_TOKEN' })
})
