import { expect, test } from 'vitest'
import { answeringAgent, forgeKinds } from '../../helpers/any-forge.ts'
import { repository, startAnyForgeJob } from '../../helpers/pull-request-job.ts'
import { refused } from '../../helpers/refusal.ts'

const auto_fix = { enabled: true, max_rounds: 10, from: 'members' as const, also: ['rita'], resolve: true }

test.each(forgeKinds)('takes a task to its merge by itself, past a red check and a thread: %s', async (kind) => {
  await using at = await startAnyForgeJob(kind, { auto_fix, auto_merge: true })
  const { job, forge, git } = at
  const task = await at.atGate(answeringAgent)
  const back = (head: string) =>
    job.running.eventually(
      () => at.get(task),
      (pull) => pull.head !== head,
    )
  const gate = () =>
    job.running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'pull_request' && !entry_barrier)

  const first = await at.get(task)
  await forge.report(first.head, 'ci/build', false)
  await at.sync(task)
  const second = await back(first.head)
  await gate()
  // Before the check passes: a poll might merge it in between.
  await forge.comment(second.number, { path: 'greeting.txt', line: 1 }, 'Say it twice.')
  await forge.report(second.head, 'ci/build', true)
  expect((await at.sync(task)).state).toBe('open')
  const third = await back(second.head)
  await gate()
  await forge.report(third.head, 'ci/build', true)
  await job.running.eventually(
    () => at.sync(task),
    ({ state }) => state === 'merged',
  )
  await job.running.taskWhere(task.id, ({ status }) => status === 'done')

  const [pull, ...more] = forge.pulls()
  expect(more).toEqual([])
  expect(pull?.state).toBe('merged')
  expect(pull?.words.map((words) => words.split('\n')[0])).toEqual(['Say it twice.', 'Said twice now.'])
  const main = (await git.refs(repository))['refs/heads/main']
  expect(await git.git(repository, ['show', `${main}:greeting.txt`])).toBe('bonjour\nbonjour\nbonjour')
  expect((await job.repository.git(['rev-parse', 'main'])).trim()).toBe(main)
  // Nobody was asked for anything.
  expect((await job.history(task.id)).filter((step) => / by (?:user|operator)/.test(step))).toEqual([])
  expect(forge.server.failures).toEqual([])
})

test.each(forgeKinds)('sends nothing for a project that did not switch it on: %s', async (kind) => {
  await using at = await startAnyForgeJob(kind, { enabled: false, delete_branch: true, auto_merge: true, auto_fix })
  const { job, forge, git } = at
  forge.server.instead = () => ({ status: 403, body: { message: 'Refused.' } })
  const { client } = job.running
  const disabled = { code: 'pull_requests_disabled' }
  const [done, cancelled, archived, deleted] = await Promise.all(
    ['Finish', 'Cancel', 'Archive', 'Delete'].map((title) => at.atGate('echo bonjour >> greeting.txt', { title })),
  )
  const { id: task_id, version } = await client.call('tasks.get', { task_id: String(done?.id) })
  expect(await refused(client.call('pull_requests.open', { task_id }))).toMatchObject(disabled)
  await client.call('tasks.transition', { task_id, version, status: 'done' })
  await client.call('tasks.cancel', { task_id: String(cancelled?.id) })
  await client.call('tasks.archive', { task_id: String(archived?.id) })
  await client.call('tasks.delete', { task_id: String(deleted?.id) })
  // What is left to send is taken up at a start.
  job.running = await job.running.restart()
  await job.running.taskWhere(task_id, ({ status }) => status === 'done')
  expect(forge.server.requests).toEqual([])
  expect(git.requests).toEqual([])
})

test.each(forgeKinds)('sends nothing more once it is switched off, in the middle of a poll too: %s', async (kind) => {
  const settings = { enabled: true, auto_merge: true }
  await using at = await startAnyForgeJob(kind, settings)
  const { job, forge, git } = at
  const { client } = job.running
  const task = await at.atGate('echo bonjour >> greeting.txt')
  const act = async (name: 'open' | 'merge' | 'close') =>
    refused(client.call(`pull_requests.${name}`, { task_id: task.id }))
  const { head } = await at.sync(task)
  await forge.report(head, 'ci/build', true)
  const off = Promise.withResolvers<undefined>()
  forge.server.instead = async ({ path }) => {
    if (!/\/status(?:es)?$/.test(path)) return null
    forge.server.instead = null
    await at.configure({ ...settings, enabled: false })
    off.resolve(undefined)
    return null
  }
  await at.configure(settings)
  await off.promise
  // After what goes on with the task: its requests come one after the other.
  expect(await act('close')).toMatchObject({ code: 'pull_requests_disabled' })
  expect(forge.pulls().map(({ state }) => state)).not.toContain('merged')

  const [asked, pushed] = [forge.server.requests.length, git.requests.length]
  for (const name of ['open', 'merge', 'close'] as const)
    expect(await act(name)).toMatchObject({ code: 'pull_requests_disabled' })
  await client.call('tasks.cancel', { task_id: task.id })
  job.running = await job.running.restart()
  await job.running.taskWhere(task.id, ({ status }) => status === 'cancelled')
  expect(forge.server.requests.slice(asked)).toEqual([])
  expect(git.requests.slice(pushed)).toEqual([])
})
