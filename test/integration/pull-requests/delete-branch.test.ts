import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { gitStatus } from '../../fakes/git-http-server.ts'
import { repository, startPullRequestJob, type PullRequestJob } from '../../helpers/pull-request-job.ts'

const bonjour = 'echo bonjour > greeting.txt'
const start = () => startPullRequestJob({ delete_branch: true })
const pushes = ({ git }: PullRequestJob) => git.requests.filter(({ url }) => url.endsWith('/git-receive-pack')).length

/** The branch of a pull request as `refs/heads/…`. */
const refOf = ({ forge }: PullRequestJob, number = 1) =>
  `refs/heads/${forge.people.pull(repository, number).pull.head.branch}`

/** Asks the forge, and once more: what follows from the first answer is done then. */
async function follow(at: PullRequestJob, task: Task): Promise<void> {
  await at.sync(task)
  await at.sync(task)
}

async function news({ job }: PullRequestJob): Promise<readonly (string | null)[]> {
  const { items } = await job.running.client.call('notifications.list', {})
  return items.filter(({ event_type }) => event_type === 'pull_request.needs_you').map(({ body }) => body)
}

test('deletes the branch of what others merged, and of what was merged from here', async () => {
  await using at = await start()
  const { job, forge, git } = at
  const [one, other] = [await at.atGate(bonjour), await at.atGate('echo ciao > other.txt')]
  const [first, second] = [refOf(at), refOf(at, 2)]
  await forge.people.merge(repository, 1, 'squash')
  await follow(at, one)
  const refs = await git.refs(repository)
  expect([first in refs, second in refs]).toEqual([false, true])
  await job.running.taskWhere(one.id, ({ status }) => status === 'done')

  await at.sync(other)
  await job.running.client.call('pull_requests.merge', { task_id: other.id })
  await at.sync(other)
  expect(Object.keys(await git.refs(repository))).toEqual(['refs/heads/main'])
  expect(await news(at)).toEqual([])
})

test('leaves the branch where that is not switched on, or not any more', async () => {
  await using at = await startPullRequestJob()
  const { forge, git } = at
  const [one, other] = [await at.atGate(bonjour), await at.atGate('echo ciao > other.txt')]
  const before = pushes(at)
  await forge.people.merge(repository, 1)
  await follow(at, one)

  await at.configure({ enabled: true, delete_branch: true })
  git.instead = ({ url }) => (url.endsWith('/git-receive-pack') ? gitStatus(503, 'Down') : null)
  await forge.people.merge(repository, 2)
  await follow(at, other)
  expect(pushes(at)).toBeGreaterThan(before)
  await at.configure({ enabled: true, delete_branch: false })
  // What was under way has ended then.
  await at.sync(other)
  const tried = pushes(at)
  git.instead = null
  await follow(at, other)
  expect(pushes(at)).toBe(tried)
  expect(await git.refs(repository)).toMatchObject({
    [refOf(at)]: expect.any(String) as string,
    [refOf(at, 2)]: expect.any(String) as string,
  })
})

test('deletes the branch in the fork that it was pushed to, and nowhere else', async () => {
  const fork = 'robot/hello'
  await using at = await startPullRequestJob({ fork, delete_branch: true })
  const { job, forge, git } = at
  forge.repository(fork, repository)
  await git.create(fork)
  const task = await at.atGate(bonjour)
  const ref = refOf(at)
  expect(Object.keys(await git.refs(fork))).toEqual([ref])
  // Another person's, at the same commit.
  await git.git(repository, ['fetch', '--quiet', join(git.root, `${fork}.git`), `${ref}:${ref}`])
  await git.git(fork, ['update-ref', 'refs/heads/other', ref])
  await forge.people.merge(repository, 1)
  await follow(at, task)
  await job.running.taskWhere(task.id, ({ status }) => status === 'done')
  expect(Object.keys(await git.refs(fork))).toEqual(['refs/heads/other'])
  expect(Object.keys(await git.refs(repository)).filter((one) => !one.startsWith('refs/from-forks/'))).toEqual(
    ['refs/heads/main', ref].sort(),
  )
  expect(await news(at)).toEqual([])
})

test('leaves a branch with commits that were not merged, and one that is gone', async () => {
  await using at = await start()
  const { forge, git } = at
  const [one, other] = [await at.atGate(bonjour), await at.atGate('echo ciao > other.txt')]
  const { head } = await at.get(one)
  await forge.people.merge(repository, 1)
  const tree = await git.git(repository, ['rev-parse', `${head}^{tree}`])
  const theirs = await git.git(repository, ['commit-tree', tree, '-p', head, '-m', 'Theirs'])
  await git.git(repository, ['update-ref', refOf(at), theirs])
  await follow(at, one)
  expect(await git.refs(repository)).toMatchObject({ [refOf(at)]: theirs })

  await forge.people.merge(repository, 2)
  await git.git(repository, ['update-ref', '-d', refOf(at, 2)])
  await follow(at, other)
  expect(await news(at)).toEqual([])
})

test('waits until no open pull request has the branch as its target', async () => {
  await using at = await start()
  const { forge, git } = at
  const [lower] = [await at.atGate(bonjour), await at.atGate('echo ciao > other.txt')]
  const ref = refOf(at)
  await forge.people.retarget(repository, 2, ref.slice('refs/heads/'.length))
  await forge.people.merge(repository, 1)
  await follow(at, lower)
  expect(await git.refs(repository)).toHaveProperty([ref])
  await forge.people.retarget(repository, 2, 'main')
  await follow(at, lower)
  expect(await git.refs(repository)).not.toHaveProperty([ref])
  expect(forge.people.pull(repository, 2).state).toBe('open')
})

test('tells once that a protected branch stays, and gives up', async () => {
  await using at = await start()
  const { forge, git } = at
  const task = await at.atGate(bonjour)
  await git.hook(repository, 'pre-receive', 'echo "GH006: Protected branch update failed"; exit 1')
  await forge.people.merge(repository, 1)
  await follow(at, task)
  expect(await news(at)).toEqual([expect.stringMatching(/^The merged branch \S+ was not deleted\. .*protected/)])
  const tried = pushes(at)
  await follow(at, task)
  expect(await news(at)).toHaveLength(1)
  expect(pushes(at)).toBe(tried)
  expect(await git.refs(repository)).toHaveProperty([refOf(at)])
})

test.each([
  ['before the forge took it', false],
  ['after the forge took it', true],
])('goes on after an end %s', async (_when, isTaken) => {
  await using at = await start()
  const { job, forge, git } = at
  const task = await at.atGate(bonjour)
  const ref = refOf(at)
  const isPush = ({ url }: { readonly url: string }) => url.endsWith('/git-receive-pack')
  if (isTaken) git.dropsAnswer = isPush
  else git.instead = (request) => (isPush(request) ? gitStatus(503, 'Down') : null)
  await forge.people.merge(repository, 1)
  await follow(at, task)
  expect(ref in (await git.refs(repository))).toBe(!isTaken)
  git.dropsAnswer = () => false
  git.instead = null
  const sent = pushes(at)
  job.running = await job.running.restart()
  await expect.poll(async () => ref in (await git.refs(repository)), { timeout: 100_000 }).toBe(false)
  await follow(at, task)
  expect(pushes(at) - sent).toBe(isTaken ? 0 : 1)
  expect(await news(at)).toEqual([])
})
