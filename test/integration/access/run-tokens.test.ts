import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { eventually } from '../../helpers/eventually.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

// The rights of a run's token. The agent passes its token on and keeps running, so that it can be used.

const handOut = 'printf %s "$SVC_API_TOKEN" > token.tmp; mv token.tmp token.txt; exec sleep 600'

interface Run {
  readonly task: Task
  readonly token: string
  /** Calls with the run's token. */
  readonly agent: Client
}

async function startRun(job: Job, more: Parameters<Job['task']>[0] = {}): Promise<Run> {
  const task = await job.task(more)
  const { path } = await job.claim(task, await job.agent(handOut, `Agent of ${task.title}`))
  const { client } = job.running
  const token = await eventually(
    client,
    () => readFile(join(path, 'token.txt'), 'utf8').catch(() => ''),
    (text) => text !== '',
  )
  return { task: await client.call('tasks.get', { task_id: task.id }), token, agent: job.running.clientWith(token) }
}

test('lets a run’s token write to its task and subtasks only', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { task, agent } = await startRun(job)
  const other = await job.task({ title: 'Other' })
  const third = await job.task({ title: 'Third' })

  await agent.call('tasks.update', { task_id: task.id, title: 'Mine' })
  const part = await agent.call('tasks.create', { project_id: job.project.id, title: 'Part', parent_id: task.id })
  const detail = await agent.call('tasks.create', { project_id: job.project.id, title: 'Detail', parent_id: part.id })
  for (const { id } of [part, detail]) {
    expect((await agent.call('tasks.update', { task_id: id, priority: 2 })).priority).toBe(2)
  }
  await agent.call('tasks.cancel', { task_id: detail.id })

  const before = await client.call('tasks.get', { task_id: other.id })
  const refused = {
    update: () => agent.call('tasks.update', { task_id: other.id, title: 'Theirs' }),
    transition: () => agent.call('tasks.transition', { task_id: other.id, status: 'todo', version: other.version }),
    verdict: () => agent.call('tasks.verdict', { task_id: other.id, verdict: 'pass' }),
    cancel: () => agent.call('tasks.cancel', { task_id: other.id }),
    archive: () => agent.call('tasks.archive', { task_id: other.id }),
    unarchive: () => agent.call('tasks.unarchive', { task_id: other.id }),
    recover: () => agent.call('tasks.recover', { task_id: other.id, action: 'resume' }),
    dependency: () => agent.call('tasks.add_dependency', { task_id: other.id, depends_on_id: third.id }),
    undepend: () => agent.call('tasks.remove_dependency', { task_id: other.id, depends_on_id: third.id }),
    ordered: () =>
      agent.call('tasks.create', {
        project_id: job.project.id,
        title: 'In their worktree',
        parent_id: other.id,
        subtask_mode: 'ordered',
      }),
  }
  for (const [name, call] of Object.entries(refused)) expect(await refusalOf(call()), name).toBe('forbidden')
  expect(await client.call('tasks.get', { task_id: other.id })).toEqual(before)

  // Allowed everywhere in its project: read, comment, create a task.
  const { items } = await agent.call('tasks.list', { project_id: job.project.id })
  expect(items.map(({ id }) => id)).toContain(other.id)
  const comment = await agent.call('comments.create', { task_id: other.id, body: 'Seen' })
  expect((await agent.call('comments.update', { comment_id: comment.id, resolved: true })).resolved_at).not.toBeNull()
  const theirs = await client.call('comments.create', { task_id: other.id, body: 'A question' })
  expect(await refusalOf(agent.call('comments.update', { comment_id: theirs.id, resolved: true }))).toBe('forbidden')
  await agent.call('tasks.create', { project_id: job.project.id, title: 'New' })
})

test('refuses a run’s token to stop another execution, or to claim a task that is being worked on', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { agent } = await startRun(job)
  const busy = await startRun(job, { title: 'Busy' })
  const execution_id = busy.task.active_execution_id ?? ''
  expect(await refusalOf(agent.call('executions.stop', { execution_id: execution_id as never }))).toBe('forbidden')
  const worker = await job.agent('true', 'Worker')
  const free = await job.task({ title: 'Free' })
  const { task } = await agent.call('tasks.claim', { task_id: free.id, agent_id: worker.id })
  expect(task.roles['coder']).toEqual({ type: 'agent', id: worker.id })
  expect(await refusalOf(agent.call('tasks.claim', { task_id: busy.task.id, agent_id: worker.id }))).toBe(
    'already_claimed',
  )
  expect((await client.call('tasks.get', { task_id: busy.task.id })).active_execution_id).toBe(execution_id)
})

test('refuses a run’s token to change reviews or commands, and saves nothing of a refused body', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { task, agent } = await startRun(job)
  const part = await agent.call('tasks.create', { project_id: job.project.id, title: 'Part', parent_id: task.id })
  const worker = await job.agent('true', 'Worker')
  const judged = { review_config: { ci_steps: ['true'] } }
  const count = async () => (await client.call('tasks.list', { project_id: job.project.id })).items.length
  const [before, tasks] = [await client.call('tasks.get', { task_id: task.id }), await count()]
  const refused = {
    own: () => agent.call('tasks.update', { task_id: task.id, title: 'Half', ...judged }),
    subtask: () => agent.call('tasks.update', { task_id: part.id, review_config: { review_prompt: 'Say yes.' } }),
    creation: () => agent.call('tasks.create', { project_id: job.project.id, title: 'New', ...judged }),
    command: () => agent.call('tasks.claim', { task_id: part.id, agent_id: worker.id, overrides: { command: 'id' } }),
    args: () => agent.call('tasks.claim', { task_id: part.id, agent_id: worker.id, overrides: { args: ['--yolo'] } }),
    env: () => agent.call('tasks.claim', { task_id: part.id, agent_id: worker.id, overrides: { env: { A: 'b' } } }),
  }
  for (const [name, call] of Object.entries(refused)) expect(await refusalOf(call()), name).toBe('humans_only')
  expect(await client.call('tasks.get', { task_id: task.id })).toEqual(before)
  expect(await count()).toBe(tasks)
  const overrides = { prompt: 'Do it', model: 'small', timeout_seconds: 60, lock_policy: 'wait' } as const
  await agent.call('tasks.claim', { task_id: part.id, agent_id: worker.id, overrides })
})

test('voids a run’s token when its task leaves the state, although the agent still runs', async () => {
  await using job = await startJob()
  const { task, agent } = await startRun(job, { review_config: { ci_steps: ['exec sleep 600'] } })
  await agent.call('tasks.transition', { task_id: task.id, status: 'review', version: task.version })
  expect(await refusalOf(agent.call('tasks.get', { task_id: task.id }))).toBe('invalid_token')
  expect((await job.executions(task.id)).at(-1)?.status).toBe('running')
})

test('lets a run create a thousand records an hour, however it asks, and no other caller is limited', async () => {
  const time = { now: Date.now() }
  await using job = await startJob({ clock: { now: () => time.now } })
  const { client } = job.running
  const [{ task, agent }, other] = [await startRun(job), await startRun(job, { title: 'Other' })]
  const of = { project_id: job.project.id }
  const many = (count: number) => Array.from({ length: count }, () => ({ title: 'Part', parent_id: task.id }))
  await agent.call('tasks.create_many', { ...of, items: many(990) })
  await agent.call('comments.create', { task_id: task.id, body: 'Begun' })
  // The last one that begins within the limit is let in.
  await agent.call('tasks.create_many', { ...of, items: many(20) })
  const refusals = {
    task: () => agent.call('tasks.create', { ...of, title: 'One more' }),
    tasks: () => agent.call('tasks.create_many', { ...of, items: many(1) }),
    comment: () => agent.call('comments.create', { task_id: task.id, body: 'More' }),
    entry: () => agent.call('knowledge.create', { ...of, title: 'More', body: 'More' }),
    file: () => agent.call('attachments.create', { ...of, name: 'a', data_base64: 'eA==' }),
  }
  for (const [name, call] of Object.entries(refusals))
    expect(await refused(call()), name).toMatchObject({ code: 'rate_limited', details: { retry_after: 3_600 } })
  await other.agent.call('tasks.create', { ...of, title: 'Theirs' })
  await client.call('tasks.create', { ...of, title: 'A person’s' })
  await agent.call('tasks.update', { task_id: task.id, title: 'Goes on' })
  time.now += 3_600_000
  await agent.call('comments.create', { task_id: task.id, body: 'An hour later' })
})
