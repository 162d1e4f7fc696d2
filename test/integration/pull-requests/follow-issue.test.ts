import { expect, test } from 'vitest'
import { present } from '../../helpers/present.ts'
import { repository, startPullRequestJob, type PullRequestJob } from '../../helpers/pull-request-job.ts'
import { refused } from '../../helpers/refusal.ts'

/** A project that follows its issues, whose clock the test sets forward. */
async function startFollowing(follow = true) {
  let ahead = 0
  const at = await startPullRequestJob({}, { clock: { now: () => Date.now() + ahead } })
  await at.configure({ enabled: true }, { write_back: { comment: false, close: false, label: null, follow } })
  const project_id = at.job.project.id
  const { client } = at.job.running
  return {
    at,
    client,
    minuteLater: () => (ahead += 61_000),
    sync: () => client.call('integrations.sync', { project_id }),
    [Symbol.asyncDispose]: () => at[Symbol.asyncDispose](),
  }
}

/** An issue at the forge and the task that it became. */
async function importIssue({ forge, job }: PullRequestJob, title: string, sync: () => Promise<unknown>) {
  const issue = forge.people.issue(repository, { title })
  await sync()
  const { items } = await job.running.client.call('tasks.list', { project_id: job.project.id })
  return { number: issue.number, task: present(items.find((one) => one.title === title)) }
}

/** Waits for what goes on with a task's forge: its requests come one after the other. */
const settled = ({ job }: PullRequestJob, task_id: string) =>
  refused(job.running.client.call('pull_requests.sync', { task_id }))

test('cancels the idle task of an issue that stays closed for a minute, and says why', async () => {
  await using world = await startFollowing()
  const { at, client, sync } = world
  const reopened = await importIssue(at, 'Greet in Dutch', sync)
  const closed = await importIssue(at, 'Greet in French', sync)
  at.forge.people.close(repository, reopened.number)
  at.forge.people.close(repository, closed.number)
  await sync()
  await settled(at, closed.task.id)
  expect((await client.call('tasks.get', { task_id: closed.task.id })).status).toBe(closed.task.status)
  at.forge.people.reopen(repository, reopened.number)
  world.minuteLater()
  // What waited outlasts the service, which takes it up in the order in which it was heard.
  at.job.running = await at.job.running.restart()
  await at.job.running.taskWhere(closed.task.id, ({ status }) => status === 'cancelled')
  const kept = await at.job.running.client.call('tasks.get', { task_id: reopened.task.id })
  expect(kept.status).toBe(reopened.task.status)
  expect(await at.job.transitions(closed.task.id)).toContainEqual(
    expect.objectContaining({
      to_state: 'cancelled',
      triggered_by: 'system',
      trigger_reason: `Its issue #${closed.number} was closed.`,
    }),
  )
})

test('asks once about a task with work, and leaves it', async () => {
  await using world = await startFollowing()
  const { at, client, sync } = world
  const { number, task } = await importIssue(at, 'Greet in French', sync)
  await at.job.claim(task, await at.job.agent('echo bonjour > greeting.txt'))
  await at.job.running.taskWhere(task.id, ({ pull_request }) => pull_request !== null)
  at.forge.people.close(repository, number)
  await sync()
  world.minuteLater()
  await sync()
  await client.call('pull_requests.sync', { task_id: task.id })
  await sync()
  await client.call('pull_requests.sync', { task_id: task.id })
  const { items } = await client.call('notifications.list', {})
  const asked = items.filter(({ body }) => body?.includes(`issue #${number} was closed`) === true)
  expect(asked.map(({ task_id }) => task_id)).toEqual([task.id])
  expect((await client.call('tasks.get', { task_id: task.id })).status).toBe('pull_request')
})

test('leaves tasks alone where the project does not follow its issues', async () => {
  await using world = await startFollowing(false)
  const { at, client, sync } = world
  const { number, task } = await importIssue(at, 'Greet in French', sync)
  at.forge.people.close(repository, number)
  await sync()
  world.minuteLater()
  await sync()
  await settled(at, task.id)
  expect((await client.call('tasks.get', { task_id: task.id })).status).toBe(task.status)
})
