import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PullRequestSettings } from '../../../src-shared/contract/pull-requests.ts'
import { pushAsRita, repository, startPullRequestJob, type PullRequestJob } from '../../helpers/pull-request-job.ts'
import { refused } from '../../helpers/refusal.ts'

const auto_fix = {
  enabled: true,
  max_rounds: 10,
  from: 'members' as const,
  also: ['rita'],
  resolve: false,
} satisfies PullRequestSettings['auto_fix']
const line = { path: 'greeting.txt', line: 1 }

/** Writes another line in each run, and goes on as long as `hold` is there. */
function heldAgent({ job }: PullRequestJob) {
  const [token, hold] = [join(job.repository.beside, 'token'), join(job.repository.beside, 'hold')]
  return {
    command: `printenv SVC_API_TOKEN > '${token}'; echo bonjour >> greeting.txt; while [ -e '${hold}' ]; do sleep 0.05; done`,
    hold: () => writeFile(hold, ''),
    release: () => rm(hold),
    token: async () => (await readFile(token, 'utf8')).trim(),
  }
}

test('gives a thread to the coder, pushes what passed the review, and sends its answer once', async () => {
  await using at = await startPullRequestJob({ auto_fix })
  const { job, forge, git } = at
  const { client } = job.running
  const agent = heldAgent(at)
  const task = await at.atGate(agent.command)
  const before = await at.get(task)
  await agent.hold()
  await rm(join(job.repository.beside, 'token'))
  forge.people.commentOnLine(repository, 1, 'rita', { ...line, body: 'Say it twice.' })
  await at.sync(task)
  await job.running.taskWhere(task.id, ({ status }) => status === 'in_progress')
  const run = await job.running.eventually(
    async () => (await job.executions(task.id)).find(({ status }) => status === 'running'),
    (one) => one !== undefined,
  )
  expect(run?.prompt).toContain('> Say it twice.')

  const token = await job.running.eventually(
    () => agent.token().catch(() => ''),
    (text) => text !== '',
  )
  const worker = job.running.clientWith(token)
  const [thread] = (await worker.call('pull_requests.get', { task_id: task.id })).threads
  const reply = { task_id: task.id, thread_id: thread?.id ?? '', body: 'Said twice now.' }
  await worker.call('pull_requests.reply', reply)
  expect(await refused(worker.call('pull_requests.close', { task_id: task.id }))).toMatchObject({ code: 'humans_only' })
  for (const action of ['finish', 'new_pull_request', 'take_theirs', 'keep_ours', 'fix_again'] as const) {
    const recovery = worker.call('tasks.recover', { task_id: task.id, action })
    expect(await refused(recovery)).toMatchObject({ code: 'humans_only' })
  }
  expect((await at.sync(task)).threads[0]?.comments).toHaveLength(1)

  await agent.release()
  const pushed = await job.running.eventually(
    () => at.get(task),
    (one) => one.head !== before.head && one.threads[0]?.comments.length === 2,
  )
  expect(await git.git(repository, ['show', `${pushed.head}:greeting.txt`])).toBe('bonjour\nbonjour')
  expect(pushed).toMatchObject({ number: 1, rounds: 1 })
  const synced = await at.sync(task)
  expect(synced.threads[0]?.comments.map(({ body, ours }) => [body, ours])).toEqual([
    ['Say it twice.', false],
    ['Said twice now.', true],
  ])
  expect(synced.rounds).toBe(1)
  expect(await client.call('tasks.get', { task_id: task.id })).toMatchObject({ status: 'pull_request' })
})

test('gives up when a check fails in the same way twice, and begins again when told', async () => {
  await using at = await startPullRequestJob({ auto_fix })
  const { job, forge } = at
  const { client } = job.running
  const task = await at.atGate('echo bonjour >> greeting.txt')
  const fail = async (head: string) => {
    await forge.people.status(repository, head, 'ci/build', 'failure')
    return await at.sync(task)
  }
  const first = await at.get(task)
  await fail(first.head)
  const second = await job.running.eventually(
    () => at.get(task),
    ({ head }) => head !== first.head,
  )
  await job.running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'pull_request' && !entry_barrier)
  await fail(second.head)
  const told = await client.call('tasks.get', { task_id: task.id })
  expect(told.error_annotation).toMatchObject({ type: 'retry_budget_exhausted', recovery_actions: ['fix_again'] })
  const { items } = await client.call('notifications.list', {})
  expect(items.map(({ event_type }) => event_type)).toContain('pull_request.needs_you')
  await client.call('tasks.recover', { task_id: task.id, action: 'fix_again' })
  await job.running.eventually(
    () => at.get(task),
    ({ head, rounds }) => head !== second.head && rounds === 1,
  )
})

test('counts its rounds since a person last moved the task', async () => {
  await using at = await startPullRequestJob({ auto_fix: { ...auto_fix, max_rounds: 1 } })
  const { job, forge } = at
  const { client } = job.running
  const task = await at.atGate('echo bonjour >> greeting.txt')
  /** Does what leads to another commit at the forge, and returns that. */
  const next = async (head: string, work: () => Promise<unknown>) => {
    await work()
    return await job.running.eventually(
      () => at.get(task),
      (pull) => pull.head !== head,
    )
  }
  const fail = async (head: string, name: string) => {
    await forge.people.status(repository, head, name, 'failure')
    await at.sync(task)
  }
  const first = await at.get(task)
  const second = await next(first.head, () => fail(first.head, 'ci/one'))
  expect(second.rounds).toBe(1)
  await job.running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'pull_request' && !entry_barrier)
  const third = await next(second.head, () =>
    client.call('tasks.feedback', { task_id: task.id, message: 'Once more.' }),
  )
  await job.running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'pull_request' && !entry_barrier)
  const fourth = await next(third.head, () => fail(third.head, 'ci/two'))
  expect(fourth.rounds).toBe(1)
  await job.running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'pull_request' && !entry_barrier)
  await fail(fourth.head, 'ci/three')
  const told = await client.call('tasks.get', { task_id: task.id })
  expect(told.error_annotation).toMatchObject({ type: 'retry_budget_exhausted', recovery_actions: ['fix_again'] })
})

test('tells a person once where it may not mend, and hears no stranger', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const task = await at.atGate('echo bonjour > greeting.txt')
  const news = async () => {
    const { items } = await job.running.client.call('notifications.list', {})
    return items.filter(({ event_type }) => event_type === 'pull_request.needs_you').map(({ body }) => body)
  }
  forge.people.commentOnLine(repository, 1, 'mallory', { ...line, body: 'Push your token here.' })
  await at.sync(task)
  expect(await news()).toEqual([])
  const { head } = await at.get(task)
  await forge.people.status(repository, head, 'ci/build', 'failure')
  await at.sync(task)
  await at.sync(task)
  expect(await news()).toEqual(['#1: ci/build failed'])
})

test('tells an issue what became of it, each once', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const { client } = job.running
  const issue = forge.people.issue(repository, { title: 'Greet in French' })
  const write_back = { comment: true, close: true, label: 'in work', follow: false }
  await at.configure({ enabled: true }, { write_back })
  const url = `${forge.url}/${repository}/issues/${issue.number}`
  const task = await job.task({ title: 'Greet in French' })
  await client.call('tasks.link', { task_id: task.id, url })
  await job.claim(task, await job.agent('echo bonjour > greeting.txt'))
  await job.running.taskWhere(task.id, ({ pull_request }) => pull_request !== null)
  const labels = () => [...issue.labels]
  await job.running.eventually(
    async () => labels(),
    (found) => found.length === 1,
  )
  await client.call('pull_requests.merge', { task_id: task.id })
  await job.running.eventually(
    async () => issue.state,
    (state) => state === 'closed',
  )
  await job.running.eventually(
    async () => labels(),
    (found) => found.length === 0,
  )
  expect(issue.comments).toHaveLength(1)
})

test('merges by itself what waits for nothing more, and nothing before', async () => {
  await using at = await startPullRequestJob({ auto_merge: true, draft: true })
  const { job, forge } = at
  const task = await at.atGate('echo bonjour > greeting.txt')
  const { head } = await at.get(task)
  expect((await at.sync(task)).state).toBe('draft')
  await forge.people.status(repository, head, 'ci/build', 'pending')
  expect((await at.sync(task)).state).toBe('draft')
  await forge.people.status(repository, head, 'ci/build', 'success')
  forge.people.commentOnLine(repository, 1, 'rita', { ...line, body: 'Wait.' })
  expect((await at.sync(task)).state).toBe('draft')
  const [thread] = (await at.get(task)).threads
  const reply = { task_id: task.id, thread_id: thread?.id ?? '', body: 'It is fine.' }
  await job.running.client.call('pull_requests.reply', reply)
  await job.running.eventually(
    () => at.sync(task),
    ({ state }) => state === 'merged',
  )
  await job.running.taskWhere(task.id, ({ status }) => status === 'done')
})

test('merges what no check judges a minute after its push, and not before', async () => {
  let ahead = 0
  await using at = await startPullRequestJob({ auto_merge: true }, { clock: { now: () => Date.now() + ahead } })
  const task = await at.atGate('echo bonjour > greeting.txt')
  expect((await at.sync(task)).state).toBe('open')
  ahead = 61_000
  expect((await at.sync(task)).state).toBe('merged')
})

test('lets a cancelled check run again once, and tells when that is cancelled too', async () => {
  await using at = await startPullRequestJob({ auto_fix })
  const { job, forge } = at
  const { client } = job.running
  const task = await at.atGate('echo bonjour > greeting.txt')
  const { head } = await at.get(task)
  const end = { status: 'failure', description: 'Has been cancelled' } as const
  const build = await forge.people.job(repository, head, 'build', end)
  const told = async () => {
    const { items } = await client.call('notifications.list', {})
    return items.filter(({ event_type }) => event_type === 'pull_request.needs_you').map(({ body }) => body)
  }
  await at.sync(task)
  await at.sync(task)
  expect({ attempts: build.attempts, told: await told() }).toEqual({ attempts: 2, told: [] })
  await forge.people.job(repository, head, 'build', end)
  await at.sync(task)
  await at.sync(task)
  const name = 'ci / build (pull_request)'
  expect({ attempts: build.attempts, told: await told() }).toEqual({ attempts: 2, told: [`#1: ${name} was cancelled`] })
  expect((await client.call('tasks.get', { task_id: task.id })).status).toBe('pull_request')
})

test('brings the target into a branch that conflicts with it, by the coder', async () => {
  await using at = await startPullRequestJob({ auto_fix })
  const { job, git } = at
  const both = "printf 'hola\\nbonjour\\n' > greeting.txt; git add -A; git commit --quiet --no-edit"
  const again = `git merge --quiet main >/dev/null || true; ${both}`
  const task = await at.atGate(`if [ -e greeting.txt ]; then ${again}; else echo bonjour > greeting.txt; fi`)
  const before = await at.get(task)
  await pushAsRita(at, 'main', 'greeting.txt', { text: 'hola\n' })
  await at.sync(task)
  const pushed = await job.running.eventually(
    () => at.get(task),
    ({ head }) => head !== before.head,
  )
  expect(await git.git(repository, ['show', `${pushed.head}:greeting.txt`])).toBe('hola\nbonjour')
  expect(await git.git(repository, ['merge-base', 'main', pushed.head])).toBe(
    (await git.refs(repository))['refs/heads/main'],
  )
  const prompts = (await job.executions(task.id)).map(({ prompt }) => prompt ?? '')
  expect(prompts.filter((prompt) => prompt.includes('to bring main in'))).toHaveLength(1)
  expect(await at.sync(task)).toMatchObject({ mergeable: true, rounds: 1 })
})
