import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { repository, startPullRequestJob, type PullRequestJob } from '../../helpers/pull-request-job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { refused, refusalOf } from '../../helpers/refusal.ts'

const name = `SVC_SECRET_HOOK_${process.pid}`
const secret = 'hook secret of this test'
afterEach(() => void Reflect.deleteProperty(process.env, name))

/** Names the secret for the project's webhook; returns the integration's ID. */
async function withSecret({ job }: PullRequestJob): Promise<string> {
  process.env[name] = secret
  const { client } = job.running
  const { id } = await client.call('integrations.update', { project_id: job.project.id, webhook_secret_ref: name })
  return id
}

const signature = (body: string, key = secret) => createHmac('sha256', key).update(body).digest('hex')
const event = '{"action": "closed", "number": 99}'

interface Answer {
  readonly status: number | undefined
  readonly text: string
}

/** Sends a webhook as it comes through a tunnel, under the tunnel's name. */
function deliver(
  { job }: PullRequestJob,
  id: string,
  headers: Readonly<Record<string, string>> = { 'x-gitea-signature': signature(event) },
): Promise<Answer> {
  const { hostname, port } = new URL(job.running.url)
  const sent = { host: 'copse.tunnel.example', 'content-type': 'application/json', ...headers }
  return new Promise((resolve, reject) => {
    request({ hostname, port, method: 'POST', path: `/hooks/${id}`, headers: sent }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () => resolve({ status: response.statusCode, text }))
    })
      .on('error', reject)
      .end(event)
  })
}

test('brings the poll forward, and believes nothing of what it says', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const id = await withSecret(at)
  const [merged, other] = [await at.atGate('echo bonjour > greeting.txt'), await at.atGate('echo ciao > other.txt')]
  await forge.people.merge(repository, 1)
  expect((await deliver(at, id)).status).toBe(202)
  await job.running.taskWhere(merged.id, ({ status }) => status === 'done')
  // The event spoke of a closed one.
  expect(await at.get(other)).toMatchObject({ state: 'open' })
})

test('brings the import of issues forward', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const { client } = job.running
  const project_id = job.project.id
  const id = await withSecret(at)
  await client.call('integrations.sync', { project_id })
  forge.people.issue(repository, { title: 'Greet in Welsh' })
  expect((await client.call('tasks.list', { project_id })).items).toEqual([])
  expect((await deliver(at, id)).status).toBe(202)
  await job.running.eventually(
    () => client.call('tasks.list', { project_id }),
    ({ items }) => items.some(({ title }) => title === 'Greet in Welsh'),
  )
})

test('asks the forge once for a flood of them', async () => {
  await using at = await startPullRequestJob()
  const id = await withSecret(at)
  const task = await at.atGate('echo bonjour > greeting.txt')
  const { synced_at } = await at.sync(task)
  const before = at.forge.requests.length
  await at.sync(task)
  const oneSync = at.forge.requests.length - before
  await expect.poll(() => at.forge.requests.length).toBe(before + oneSync)
  const answers = await Promise.all(Array.from({ length: 60 }, () => deliver(at, id)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
  await expect.poll(() => at.forge.requests.length).toBeGreaterThan(before + oneSync)
  // Everything that follows from them has been asked for once this answers.
  await at.sync(task)
  expect(at.forge.requests.length).toBeLessThanOrEqual(before + 3 * oneSync)
  expect((await at.get(task)).synced_at).not.toBe(synced_at)
})

test('answers alike for a wrong signature, none, and an integration that isn’t there', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const unnamed = await job.running.client.call('integrations.get', { project_id: job.project.id })
  const right = { 'x-hub-signature-256': `sha256=${signature(event)}` }
  const answers = [await deliver(at, unnamed.id, right)]
  const id = await withSecret(at)
  answers.push(
    await deliver(at, id, {}),
    await deliver(at, id, { 'x-gitea-signature': signature(event, 'another') }),
    await deliver(at, id, { 'x-gitlab-token': `${secret}.` }),
    // What stands in for a missing secret.
    await deliver(at, 'nobody', { 'x-gitlab-token': 'none' }),
    await deliver(at, crypto.randomUUID(), right),
  )
  Reflect.deleteProperty(process.env, name)
  for (const value of ['', 'none']) {
    answers.push(await deliver(at, id, { 'x-gitlab-token': value }))
    answers.push(await deliver(at, id, { 'x-gitea-signature': signature(event, value) }))
  }
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(forge.requests).toEqual([])
  process.env[name] = ` ${secret}\n`
  for (const headers of [right, { 'x-gitea-signature': signature(event) }, { 'x-gitlab-token': secret }]) {
    expect((await deliver(at, id, headers)).status).toBe(202)
  }
})

test('takes nothing any more once the integration is gone', async () => {
  await using at = await startPullRequestJob()
  const id = await withSecret(at)
  expect((await deliver(at, id)).status).toBe(202)
  await at.job.running.client.call('integrations.delete', { project_id: at.job.project.id })
  expect((await deliver(at, id)).status).toBe(401)
})

test('keeps the secret to itself, as it does the token', async () => {
  await using at = await startPullRequestJob()
  const { job } = at
  const { client } = job.running
  const id = await withSecret(at)
  const task = await job.task({ title: 'Look' })
  const comment = await client.call('comments.create', { task_id: task.id, body: `See ${secret}!` })
  expect(comment.body).toBe('See [redacted]!')
  const project_id = job.project.id
  const rename = (webhook_secret_ref: string | null) =>
    refused(client.call('integrations.update', { project_id, webhook_secret_ref }))
  expect(await rename('SVC_DATA_DIR')).toMatchObject({ code: 'secret_ref_forbidden', status: 400 })
  expect(await rename(at.secret)).toMatchObject({ code: 'validation_failed' })

  // Its first delivery bound it to the forge: nobody gets it sent to a host of their own.
  expect((await deliver(at, id)).status).toBe(202)
  const { client: olga, user_id } = await register(job.running, 'Olga')
  await addMember(job.running, project_id, user_id, 'owner')
  const mine = await olga.call('projects.create', { name: 'Olga’s', repo_path: job.repository.path })
  const elsewhere = {
    ...({ project_id: mine.id, platform: 'selfhosted', owner: 'octo', repo: 'hello' } as const),
    base_url: at.forge.url.replace('127.0.0.1', 'localhost'),
    token_secret_ref: name,
  }
  expect(await refusalOf(olga.call('integrations.create', elsewhere))).toBe('secret_bound')
  const asHook = { ...elsewhere, token_secret_ref: 'SVC_SECRET_OTHER', webhook_secret_ref: name }
  expect(await refusalOf(olga.call('integrations.create', asHook))).toBe('secret_bound')
})
