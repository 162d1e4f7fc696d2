import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refusalOf } from '../../helpers/refusal.ts'

/** An agent that saves each prompt as `prompt-<n>.txt`, and each of whose runs ends when its gate opens. */
async function gatedJob(end = 'echo done') {
  const job = await startJob()
  const gates = await mkdtemp(join(tmpdir(), 'copse-gates-'))
  const command = `n=$(ls prompt-* 2>/dev/null | wc -l | tr -d " "); cat > "prompt-$n.txt"; echo "run $n"; until [ -e "${gates}/$n" ]; do read -t 0.1 _ < /dev/null || sleep 0.05; done; n=$n; ${end}`
  const agent = await job.agent(command)
  const task = await job.task({ title: 'Add numbers', description: 'Write a function that adds.' })
  const { path } = await job.claim(task, agent)
  const { client } = job.running
  return {
    job,
    client,
    agent,
    task,
    path,
    open: (n: number) => writeFile(join(gates, String(n)), ''),
    say: async (message: string) =>
      (await client.call('tasks.feedback', { task_id: task.id, comment_ids: [], message })).execution,
    prompt: async (n: number) => (await job.executions(task.id)).toReversed()[n]?.prompt,
    queue: () => client.call('projects.queue', { project_id: job.project.id }),
    running: (n: number) =>
      job.running.eventually(
        () => job.executions(task.id),
        (all) => all.filter((one) => one.started_at !== null).length === n,
      ),
    [Symbol.asyncDispose]: async () => {
      await job[Symbol.asyncDispose]()
      await rm(gates, { recursive: true, force: true })
    },
  }
}

const texts = (job: Job, task_id: string) =>
  job.executions(task_id).then((all) => all.toReversed().map(({ message, status }) => [message ?? null, status]))

test.concurrent('delivers messages in order after the current run, then moves the task', async () => {
  await using its = await gatedJob()
  await its.running(1)
  const first = await its.say('Handle zero too.')
  const second = await its.say('And negatives.')
  expect([first.status, first.message, second.message]).toEqual(['queued', 'Handle zero too.', 'And negatives.'])
  const waiting = (await its.queue()).waiting.map(({ execution_id, reason }) => [execution_id, reason])
  expect(waiting).toEqual([
    [first.id, 'task_busy'],
    [second.id, 'task_busy'],
  ])
  await its.open(0)
  await its.running(2)
  expect(await its.prompt(1)).toContain('Handle zero too.')
  expect((await its.client.call('tasks.get', { task_id: its.task.id })).status).toBe('in_progress')
  await its.open(1)
  await its.running(3)
  expect(await its.prompt(2)).toContain('And negatives.')
  expect(await its.prompt(2)).not.toContain('Handle zero too.')
  await its.open(2)
  await its.job.running.taskWhere(its.task.id, (one) => one.status === 'review')
  expect(await texts(its.job, its.task.id)).toEqual([
    [null, 'succeeded'],
    ['Handle zero too.', 'succeeded'],
    ['And negatives.', 'succeeded'],
  ])
})

/** The execution that waits with this message, by its events. */
async function heardOf(client: Client, message: string): Promise<string> {
  for await (const item of client.events({}, 0, AbortSignal.timeout(60_000))) {
    if (item.kind !== 'event' || item.event.type !== 'execution.updated') continue
    const { execution } = item.event.data
    if (execution.message === message) return execution.id
  }
  throw new Error('The events ended.')
}

test.concurrent('changes and withdraws a waiting message, but not a delivered one', async () => {
  await using its = await gatedJob()
  await its.running(1)
  const first = await its.say('Handel zero.')
  const second = await its.say('Never mind.')
  const changed = await its.client.call('executions.update', { execution_id: first.id, message: 'Handle zero.' })
  expect(changed).toMatchObject({ id: first.id, status: 'queued', message: 'Handle zero.' })
  expect(await heardOf(its.client, 'Handle zero.')).toBe(first.id)
  const withdrawn = await its.client.call('executions.stop', { execution_id: second.id })
  expect(withdrawn.execution).toMatchObject({ status: 'cancelled', started_at: null })
  expect(withdrawn.task).toMatchObject({ status: 'in_progress', error_annotation: null })
  await its.open(0)
  await its.running(2)
  expect(await its.prompt(1)).toContain('Handle zero.')
  expect(await its.prompt(1)).not.toContain('Handel')
  const late = its.client.call('executions.update', { execution_id: first.id, message: 'Too late' })
  expect(await refusalOf(late)).toBe('execution_not_running')
  await its.open(1)
  await its.job.running.taskWhere(its.task.id, (one) => one.status === 'review')
})

test.concurrent('turns the comments of a withdrawn review into drafts again', async () => {
  await using its = await gatedJob()
  await its.running(1)
  const anchor = { path: 'src/add.ts', side: 'new' as const, line: 7 }
  await its.client.call('comments.create', { task_id: its.task.id, body: 'Wrong sign.', anchor })
  const open = async () =>
    (await its.client.call('comments.list', { task_id: its.task.id })).items.filter((one) => one.state === 'draft')
  const { execution } = await its.client.call('tasks.feedback', { task_id: its.task.id })
  expect(execution.message).toContain('Wrong sign.')
  expect(await open()).toEqual([])
  await its.client.call('executions.stop', { execution_id: execution.id })
  expect((await open()).map((one) => one.body)).toEqual(['Wrong sign.'])
  await its.open(0)
  await its.job.running.taskWhere(its.task.id, (one) => one.status === 'review')
})

test.concurrent('delivers a message after a failed run', async () => {
  await using its = await gatedJob('test "$n" = 1')
  await its.running(1)
  await its.say('Try it with a smaller input.')
  await its.open(0)
  await its.running(2)
  await its.open(1)
  await its.job.running.taskWhere(its.task.id, (one) => one.status === 'review' && one.error_annotation === null)
  expect(await texts(its.job, its.task.id)).toEqual([
    [null, 'failed'],
    ['Try it with a smaller input.', 'succeeded'],
  ])
})

test.concurrent('keeps a message after a stop until someone resumes, also across a restart', async () => {
  await using its = await gatedJob()
  const [run] = await its.running(1)
  const message = await its.say('Go another way.')
  const stopped = await its.client.call('executions.stop', { execution_id: run?.id ?? '' })
  expect(stopped.task.error_annotation).toMatchObject({ type: 'execution_paused' })
  its.job.running = await its.job.running.restart()
  const { client } = its.job.running
  const { waiting } = await client.call('projects.queue', { project_id: its.job.project.id })
  expect(waiting.map(({ execution_id, reason }) => [execution_id, reason])).toEqual([[message.id, 'task_paused']])
  const resumed = await client.call('tasks.recover', { task_id: its.task.id, action: 'resume' })
  expect(resumed.task).toMatchObject({ active_execution_id: message.id, error_annotation: null })
  // Whether the first run has saved its prompt is unknown.
  await Promise.all([its.open(0), its.open(1)])
  await its.job.running.taskWhere(its.task.id, (one) => one.status === 'review')
  const { prompt } = await client.call('executions.get', { execution_id: message.id })
  expect(prompt).toContain('Go another way.')
  expect(await texts(its.job, its.task.id)).toEqual([
    [null, 'stopped'],
    ['Go another way.', 'succeeded'],
  ])
})

test.concurrent('starts an idle agent with a message, earlier messages first', async () => {
  await using its = await gatedJob()
  const [run] = await its.running(1)
  const first = await its.say('Go another way.')
  await its.client.call('executions.stop', { execution_id: run?.id ?? '' })
  await Promise.all([its.open(0), its.open(1), its.open(2)])
  const second = await its.say('And hurry.')
  expect(second.status).toBe('queued')
  await its.job.running.taskWhere(its.task.id, (one) => one.status === 'review')
  const ended = (await its.job.executions(its.task.id)).toReversed().map(({ id, status }) => [id, status])
  expect(ended).toEqual([
    [run?.id, 'stopped'],
    [first.id, 'succeeded'],
    [second.id, 'succeeded'],
  ])
})

test.concurrent('drops waiting messages when a task is cancelled or moved by a person', async () => {
  await using its = await gatedJob()
  await its.running(1)
  await its.say('Too late.')
  await its.client.call('tasks.cancel', { task_id: its.task.id })
  expect(await texts(its.job, its.task.id)).toEqual([
    [null, 'cancelled'],
    ['Too late.', 'cancelled'],
  ])
  expect((await its.queue()).waiting).toEqual([])
})

test.concurrent('does not let an agent move its task past a waiting message', async () => {
  const submit = `[ "$n" = 0 ] || exit 0; v=$(curl -sf -H "Authorization: Bearer $SVC_API_TOKEN" "$SVC_API_URL/api/v1/tasks/$SVC_TASK_ID" | sed 's/.*"version":\\([0-9]*\\).*/\\1/'); curl -s -X POST -H "Authorization: Bearer $SVC_API_TOKEN" -H 'content-type: application/json' -d "{\\"status\\":\\"review\\",\\"version\\":$v}" "$SVC_API_URL/api/v1/tasks/$SVC_TASK_ID/transition" > answer.json`
  await using its = await gatedJob(submit)
  await its.running(1)
  await its.say('One more thing.')
  await its.open(0)
  await its.running(2)
  expect(JSON.parse(await readFile(join(its.path, 'answer.json'), 'utf8'))).toMatchObject({
    error: { code: 'transition_blocked' },
  })
  expect((await its.client.call('tasks.get', { task_id: its.task.id })).status).toBe('in_progress')
  await its.open(1)
  await its.job.running.taskWhere(its.task.id, (one) => one.status === 'review')
})
