import { expect, test } from 'vitest'
import { answeringAgent, forgeKinds } from '../../helpers/any-forge.ts'
import { repository, startAnyForgeJob } from '../../helpers/pull-request-job.ts'

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
