import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { repository, startPullRequestJob, type PullRequestJob } from '../../helpers/pull-request-job.ts'
import { refused } from '../../helpers/refusal.ts'

const branchOf = ({ forge }: PullRequestJob, number: number) => forge.people.pull(repository, number).pull.head.branch

/** A stack of tasks at their gates, each of which writes a file with its title. */
async function stackOf(at: PullRequestJob, ...titles: readonly string[]): Promise<readonly Task[]> {
  const tasks: Task[] = []
  for (const title of titles) {
    const stacked_on = tasks.at(-1)?.id
    tasks.push(await at.atGate(`echo ${title} > ${title}.txt`, { title, ...(stacked_on && { stacked_on }) }))
  }
  return tasks
}

/** The files and the number of commits that a pull request shows at the forge. */
async function shown({ forge, git }: PullRequestJob, number: number) {
  const { base, head } = forge.people.pull(repository, number).pull
  const range = `refs/heads/${base}...refs/heads/${head.branch}`
  const lines = async (...args: string[]) => (await git.git(repository, args)).split('\n').filter((one) => one !== '')
  const files = await lines('diff', '--name-only', range)
  const commits = await lines('rev-list', `refs/heads/${base}..refs/heads/${head.branch}`)
  return { base, files, commits: commits.length }
}

/** Waits until a pull request shows this at the forge. */
const showing = (at: PullRequestJob, number: number, wanted: { readonly base: string; readonly files: string[] }) =>
  at.job.running.eventually(
    () => shown(at, number),
    (found) => JSON.stringify(found) === JSON.stringify({ ...wanted, commits: 1 }),
  )

/** Waits until the branch of a task lies on another here. */
const liesOn = ({ job }: PullRequestJob, { id }: Task, branch: string) =>
  job.running.eventually(
    () => job.running.client.call('tasks.workspace', { task_id: id }),
    ({ base_branch }) => base_branch === branch,
  )

const isDone = ({ status }: Task) => status === 'done'

test.each(['merge', 'squash', 'rebase'] as const)(
  'goes to the branch below, and to the base once that is merged by %s',
  async (method) => {
    await using at = await startPullRequestJob()
    const { job, forge } = at
    const { client } = job.running
    const [lower, upper] = await stackOf(at, 'lower', 'upper')
    if (!lower || !upper) throw new Error('There is no stack.')
    expect(await at.get(lower)).toMatchObject({ number: 1, target: 'main' })
    expect(await at.get(upper)).toMatchObject({ number: 2, target: branchOf(at, 1) })
    expect(await shown(at, 2)).toEqual({ base: branchOf(at, 1), files: ['upper.txt'], commits: 1 })
    const [below, above] = [await at.sync(lower), await at.sync(upper)]
    expect([below.below, below.waiting_for]).toEqual([null, []])
    expect([above.below, above.waiting_for]).toEqual([{ task_id: lower.id, number: 1 }, ['stack']])
    expect(await refused(client.call('pull_requests.merge', { task_id: upper.id }))).toMatchObject({
      code: 'dependency_gate',
      details: { stacked_on: lower.id },
    })

    await forge.people.merge(repository, 1, method)
    await at.sync(lower)
    await job.running.taskWhere(lower.id, isDone)
    await liesOn(at, upper, 'main')
    await showing(at, 2, { base: 'main', files: ['upper.txt'] })
    await job.running.eventually(
      () => at.sync(upper),
      ({ target, waiting_for }) => target === 'main' && waiting_for.length === 0,
    )
    expect((await at.get(upper)).below).toBeNull()
    const merged = await client.call('pull_requests.merge', { task_id: upper.id, method })
    expect(merged).toMatchObject({ number: 2, state: 'merged' })
    await job.running.taskWhere(upper.id, isDone)
    expect(await job.repository.git(['show', 'main:lower.txt'])).toBe('lower')
    expect(await job.repository.git(['show', 'main:upper.txt'])).toBe('upper')
  },
)

test('brings the rest of three along when one is merged by us, and when the middle is closed and cancelled', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const { client } = job.running
  const [a, b, c, d] = await stackOf(at, 'a', 'b', 'c', 'd')
  if (!a || !b || !c || !d) throw new Error('There is no stack.')
  await job.running.eventually(
    () => at.sync(a),
    ({ waiting_for }) => waiting_for.length === 0,
  )
  await client.call('pull_requests.merge', { task_id: a.id, method: 'squash' })
  await job.running.taskWhere(a.id, isDone)
  await showing(at, 2, { base: 'main', files: ['b.txt'] })
  await showing(at, 3, { base: branchOf(at, 2), files: ['c.txt'] })
  await showing(at, 4, { base: branchOf(at, 3), files: ['d.txt'] })

  forge.people.close(repository, 3)
  await at.sync(c)
  expect((await at.sync(d)).target).toBe(branchOf(at, 3))
  expect(await at.get(d)).toMatchObject({ waiting_for: ['stack'], below: { task_id: c.id, number: null } })
  await client.call('tasks.cancel', { task_id: c.id })
  await showing(at, 4, { base: branchOf(at, 2), files: ['d.txt'] })
  expect((await at.get(d)).below).toEqual({ task_id: b.id, number: 2 })
  expect((await at.get(c)).state).toBe('closed')

  await forge.people.merge(repository, 2, 'rebase')
  await at.sync(b)
  await showing(at, 4, { base: 'main', files: ['d.txt'] })
})

test('waits at the gate until the task below is pushed, and opens then', async () => {
  await using at = await startPullRequestJob()
  const { job, git } = at
  const { client } = job.running
  await git.hook(repository, 'pre-receive', 'echo "Not allowed to push to protected branch"; exit 1')
  const [lower] = await stackOf(at, 'lower')
  if (!lower) throw new Error('There is no task.')
  expect(lower.pull_request).toBeNull()
  const upper = await job.task({ title: 'upper', stacked_on: lower.id })
  await job.claim(upper, await job.agent('echo upper > upper.txt'))
  await git.hook(repository, 'pre-receive', 'exit 0')
  const waiting = await job.running.taskWhere(
    upper.id,
    ({ status, entry_barrier }) => status === 'pull_request' && !entry_barrier,
  )
  expect(waiting).toMatchObject({ pull_request: null, error_annotation: null })
  const refusal = await refused(client.call('pull_requests.open', { task_id: upper.id }))
  expect(refusal).toMatchObject({ code: 'dependency_gate', details: { stacked_on: lower.id } })
  expect(await git.git(repository, ['for-each-ref', '--format=%(refname)', 'refs/heads'])).toBe('refs/heads/main')

  await client.call('tasks.recover', { task_id: lower.id, action: 'retry_hook' })
  await job.running.taskWhere(upper.id, ({ pull_request }) => pull_request !== null)
  expect(await shown(at, 2)).toEqual({ base: branchOf(at, 1), files: ['upper.txt'], commits: 1 })
})

test('follows the link: off the stack, and onto another', async () => {
  await using at = await startPullRequestJob()
  const { client } = at.job.running
  const [lower, upper] = await stackOf(at, 'lower', 'upper')
  if (!lower || !upper) throw new Error('There is no stack.')
  await client.call('tasks.update', { task_id: upper.id, stacked_on: null })
  await showing(at, 2, { base: 'main', files: ['upper.txt'] })
  await client.call('tasks.update', { task_id: lower.id, stacked_on: upper.id })
  await showing(at, 1, { base: branchOf(at, 2), files: ['lower.txt'] })
})

test('leaves a target that a person chose', async () => {
  await using at = await startPullRequestJob()
  const { forge, git } = at
  const [lower, upper] = await stackOf(at, 'lower', 'upper')
  if (!lower || !upper) throw new Error('There is no stack.')
  await git.git(repository, ['update-ref', 'refs/heads/develop', 'refs/heads/main'])
  await forge.people.retarget(repository, 2, 'develop')
  const { head } = await at.get(upper)
  await forge.people.merge(repository, 1)
  await at.sync(lower)
  await at.job.running.eventually(
    () => at.get(upper),
    (pull) => pull.head !== head && pull.target === 'develop',
  )
  expect((await at.sync(upper)).target).toBe('develop')
  expect(forge.people.pull(repository, 2).pull.base).toBe('develop')
})

test('reopens what the forge closed with the branch below it', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const [lower, upper] = await stackOf(at, 'lower', 'upper')
  if (!lower || !upper) throw new Error('There is no stack.')
  await forge.people.merge(repository, 1, 'squash')
  await forge.state.git.remove(repository, branchOf(at, 1))
  expect((await at.sync(upper)).state).toBe('closed')
  await at.sync(lower)
  await job.running.taskWhere(lower.id, isDone)
  await job.running.client.call('tasks.recover', { task_id: upper.id, action: 'reopen_pull_request' })
  await at.sync(upper)
  await showing(at, 2, { base: 'main', files: ['upper.txt'] })
  expect(await at.get(upper)).toMatchObject({ number: 2, state: 'open', target: 'main' })
})

test('points it at the base after a restart, when the forge failed at that moment', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const [lower, upper] = await stackOf(at, 'lower', 'upper')
  if (!lower || !upper) throw new Error('There is no stack.')
  let isDown = true
  forge.instead = ({ method, path }) =>
    isDown && method === 'PATCH' && path.endsWith('/pulls/2') ? { status: 503, body: 'Down.' } : null
  await forge.people.merge(repository, 1)
  await at.sync(lower)
  await job.running.taskWhere(lower.id, isDone)
  expect(forge.people.pull(repository, 2).pull.base).toBe(branchOf(at, 1))
  isDown = false
  job.running = await job.running.restart()
  await showing(at, 2, { base: 'main', files: ['upper.txt'] })
})

test('waits for the merge below where the branches are in a fork', async () => {
  const fork = 'robot/hello'
  await using at = await startPullRequestJob({ fork })
  const { job, forge, git } = at
  forge.repository(fork, repository)
  await git.create(fork)
  const [lower] = await stackOf(at, 'lower')
  if (!lower) throw new Error('There is no task.')
  expect(lower).toMatchObject({ error_annotation: null, pull_request: { number: 1 } })
  const upper = await job.task({ title: 'upper', stacked_on: lower.id })
  await job.claim(upper, await job.agent('echo upper > upper.txt'))
  await job.running.taskWhere(upper.id, (one) => one.status === 'pull_request' && !one.entry_barrier)
  const { message } = await refused(job.running.client.call('pull_requests.open', { task_id: upper.id }))
  expect(message).toContain('is a fork')
  await forge.people.merge(repository, 1)
  await at.sync(lower)
  await job.running.taskWhere(upper.id, ({ pull_request }) => pull_request !== null)
  expect(await at.get(upper)).toMatchObject({ number: 2, target: 'main' })
})
