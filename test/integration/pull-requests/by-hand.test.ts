import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { repository, startPullRequestJob, type PullRequestJob } from '../../helpers/pull-request-job.ts'
import { refused } from '../../helpers/refusal.ts'

/** With the default workflow, a task whose work has passed its review. */
async function reviewed({ job }: PullRequestJob): Promise<Task> {
  const task = await job.task({ title: 'Greet in French', description: 'Say bonjour.' })
  await job.claim(task, await job.agent('echo bonjour > greeting.txt; echo done'))
  return await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
}
const start = (settings = {}) => startPullRequestJob(settings, { workflow: (standard) => standard })

test('opens once, and updates what is open: Copse’s own block alone', async () => {
  await using at = await start({ labels: ['from copse'], body: '{description}\n\n{checks}' })
  const { client } = at.job.running
  const task = await reviewed(at)
  const stop = new AbortController()
  const items = client.events({ project_id: at.job.project.id }, 0, stop.signal)
  const wish = { task_id: task.id, draft: true, title: 'A first try' }
  const { created, pull_request: pull } = await client.call('pull_requests.open', wish)
  expect({ created, pull }).toMatchObject({ created: true, pull: { number: 1, state: 'draft', target: 'main' } })
  for await (const item of items) {
    if (item.kind !== 'event' || item.event.type !== 'pull_request.updated') continue
    expect(item.event.data.pull_request).toMatchObject({ number: 1, state: 'draft' })
    break
  }
  stop.abort()
  const there = at.forge.people.pull(repository, 1)
  there.body = `Rita says hello.\n\n${there.body}`

  const again = await client.call('pull_requests.open', { task_id: task.id, body: 'It greets.' })
  expect(again).toMatchObject({ created: false, pull_request: { number: 1, state: 'draft' } })
  const { body } = at.forge.people.pull(repository, 1)
  expect(body).toMatch(/^Rita says hello\.\n\n<!-- copse:task [^>]+ -->\nIt greets\.\n<!-- \/copse:task -->$/)

  const ready = await client.call('pull_requests.ready', { task_id: task.id })
  expect(ready.state).toBe('open')
  expect((await client.call('pull_requests.close', { task_id: task.id })).state).toBe('closed')
  expect(await refused(client.call('pull_requests.open', { task_id: task.id }))).toMatchObject({
    code: 'pull_request_closed',
    details: { state: 'closed' },
  })
  expect((await client.call('pull_requests.reopen', { task_id: task.id })).state).toBe('open')
  expect(await client.call('pull_requests.get', { task_id: task.id })).toMatchObject({ number: 1, state: 'open' })
})

test('merges nothing here while it is open there', async () => {
  await using at = await start()
  const { client } = at.job.running
  const task = await reviewed(at)
  await client.call('pull_requests.open', { task_id: task.id })
  const { version } = await client.call('tasks.get', { task_id: task.id })
  const move = { task_id: task.id, status: 'merging', version }
  expect(await refused(client.call('tasks.transition', move))).toMatchObject({ code: 'pull_request_open' })
  const { items } = await client.call('tasks.moves', { task_id: task.id })
  expect(items.find(({ to }) => to === 'merging')).toMatchObject({ allowed: false })
  await client.call('pull_requests.close', { task_id: task.id })
  const { task: merged } = await client.call('tasks.transition', move)
  expect(merged.status).toBe('done')
})

test('answers a thread', async () => {
  await using at = await start()
  const { job, forge } = at
  const { client } = job.running
  const task = await reviewed(at)
  await client.call('pull_requests.open', { task_id: task.id })
  const place = { path: 'greeting.txt', line: 1 }
  forge.people.commentOnLine(repository, 1, 'rita', { ...place, body: 'Capital B.' })
  const [thread] = (await client.call('pull_requests.sync', { task_id: task.id })).threads
  const reply = { task_id: task.id, thread_id: thread?.id ?? '', body: 'It stays small.' }
  const answered = await client.call('pull_requests.reply', reply)
  expect(answered.threads[0]?.comments.map(({ body, ours }) => [body, ours])).toEqual([
    ['Capital B.', false],
    ['It stays small.', true],
  ])
  expect(await refused(client.call('pull_requests.reply', { ...reply, thread_id: 'none' }))).toMatchObject({
    code: 'not_found',
  })
})

test('says why there is nothing to push, or nothing may be', async () => {
  await using at = await start()
  const { job, git } = at
  const { client } = job.running
  const open = (task: Task) => refused(client.call('pull_requests.open', { task_id: task.id }))
  const fresh = await job.task({ title: 'Not begun' })
  expect(await open(fresh)).toMatchObject({ code: 'nothing_to_push' })
  expect(await refused(client.call('pull_requests.get', { task_id: fresh.id }))).toMatchObject({ code: 'not_found' })

  const task = await reviewed(at)
  await git.hook(repository, 'pre-receive', 'echo "GH013: Repository rule violations found"; exit 1')
  expect(await open(task)).toMatchObject({
    code: 'push_rejected',
    details: { output: expect.stringContaining('GH013') as string },
  })
  await git.hook(repository, 'pre-receive', 'exit 0')

  const { path } = await client.call('tasks.workspace', { task_id: task.id })
  await job.repository.git(['-C', path, 'commit', '--quiet', '--allow-empty', '-m', 'Late'])
  await job.repository.git(['-C', path, 'rm', '--quiet', 'greeting.txt'])
  expect(await open(task)).toMatchObject({ code: 'review_not_ready' })

  await at.configure({ enabled: false })
  expect(await open(task)).toMatchObject({ code: 'pull_requests_disabled' })
  await at.configure({ enabled: true }, { enabled: false })
  expect(await open(task)).toMatchObject({ code: 'integration_disabled' })
  await client.call('integrations.delete', { project_id: job.project.id })
  expect(await open(task)).toMatchObject({ code: 'not_found', details: { resource: 'integration' } })
})

test('tells what the token may do by reading alone, and what the forge refuses', async () => {
  await using at = await start()
  const { job, forge, secret } = at
  const { client } = job.running
  const project_id = job.project.id
  const checked = await client.call('integrations.check', { project_id })
  expect(checked.rights.map(({ state }) => state)).not.toContain('missing')
  expect(forge.requests.map(({ method }) => method).filter((method) => method !== 'GET')).toEqual([])
  expect((await client.call('integrations.get', { project_id })).can).toEqual(checked.can)

  const task = await reviewed(at)
  await client.call('pull_requests.open', { task_id: task.id })
  forge.state.tokens.clear()
  const refusal = await refused(client.call('pull_requests.sync', { task_id: task.id }))
  expect(refusal).toMatchObject({ code: 'external_sync_failed', details: { reason: 'unauthorized' } })
  const known = await client.call('pull_requests.get', { task_id: task.id })
  expect(known).toMatchObject({ number: 1, state: 'open', last_error: { reason: 'unauthorized' } })
  expect(JSON.stringify([refusal, known])).not.toContain(process.env[secret])
})
