import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'
import { traces } from '../../helpers/overlap-sides.ts'

const files = { 'shared.txt': 'base\n', 'README.md': '# Job\n' }

/** A task that waits in review with a change of this file. */
async function reviewed(job: Job, change = 'echo theirs > shared.txt', title = 'Change the line'): Promise<Task> {
  const agent = await job.agent(`${change}; echo done`)
  const task = await job.task({ title })
  await job.claim(task, agent)
  return await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
}

const conflicting = (job: Job, task: Task) => job.running.taskWhere(task.id, (one) => one.base_conflict !== null)
const clean = (job: Job, task: Task) => job.running.taskWhere(task.id, (one) => one.base_conflict === null)
const merge = async (job: Job, { id }: Task) => {
  const { version } = await job.running.client.call('tasks.get', { task_id: id })
  return await job.running.client.call('tasks.transition', { task_id: id, status: 'merging', version })
}

test('tells within 5 s that a commit by hand made a merge conflict, with its files, in lists too, until it is undone', async () => {
  await using job = await startJob({ files })
  const task = await reviewed(job)
  expect(task.base_conflict).toBeNull()
  const since = Date.now()
  const commit = await job.repository.commit('Meanwhile', { 'shared.txt': 'mine\n' })
  const told = await conflicting(job, task)
  expect(Date.now() - since).toBeLessThan(5_000)
  expect(told.base_conflict).toEqual({ commit, files: ['shared.txt'] })
  const { items } = await job.running.client.call('tasks.list', { project_id: job.project.id })
  expect(items.map(({ base_conflict }) => base_conflict)).toEqual([{ commit, files: ['shared.txt'] }])
  await job.repository.git(['reset', '--quiet', '--hard', 'HEAD~1'])
  await clean(job, task)
})

test('tells it of those that wait when another task is merged, and not of work elsewhere in the repository', async () => {
  await using job = await startJob({ files })
  const [first, second, third] = [
    await reviewed(job, 'echo one > shared.txt', 'One'),
    await reviewed(job, 'echo two > shared.txt', 'Two'),
    await reviewed(job, 'echo new > new.txt', 'Three'),
  ]
  await merge(job, first)
  expect((await conflicting(job, second)).base_conflict?.files).toEqual(['shared.txt'])
  expect((await job.running.client.call('tasks.get', { task_id: third.id })).base_conflict).toBeNull()
})

test('keeps it after a failed merge, whose worktree is gone, and clears it once the branch is mended', async () => {
  await using job = await startJob({ files })
  const task = await reviewed(job)
  await job.repository.commit('Meanwhile', { 'shared.txt': 'mine\n' })
  expect((await merge(job, task)).task.status).toBe('merge_failed')
  expect((await conflicting(job, task)).base_conflict?.files).toEqual(['shared.txt'])
  const { branch } = await job.running.client.call('tasks.workspace', { task_id: task.id })
  await job.repository.git(['worktree', 'prune'])
  await job.repository.git(['checkout', '--quiet', branch])
  await job.repository.git(['merge', '--quiet', '--strategy=ours', '--message=Keep mine', 'main'])
  await job.repository.git(['checkout', '--quiet', 'main'])
  await clean(job, task)
})

test('is silent while a run goes on, and for a task that is over', async () => {
  await using job = await startJob({ files })
  await using beacon = await createProcessBeacon()
  const task = await reviewed(job)
  await job.repository.commit('Meanwhile', { 'shared.txt': 'mine\n' })
  await conflicting(job, task)
  const { client } = job.running
  const coder = task.roles['coder']
  await client.call('agents.update', {
    agent_id: coder?.type === 'agent' ? coder.id : (undefined as never),
    config: { command: beacon.hold('again', wait) },
  })
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Again' })
  const running = await job.running.taskWhere(task.id, (one) => one.active_execution_id !== null)
  expect(running.base_conflict).toBeNull()
  await client.call('executions.stop', { execution_id: running.active_execution_id ?? (undefined as never) })
  await conflicting(job, task)
  await client.call('tasks.cancel', { task_id: task.id })
  await clean(job, task)
})

test('knows it again after a restart', async () => {
  await using job = await startJob({ files })
  const task = await reviewed(job)
  await job.repository.commit('Meanwhile', { 'shared.txt': 'mine\n' })
  await conflicting(job, task)
  job.running = await job.running.restart()
  expect((await conflicting(job, task)).base_conflict?.files).toEqual(['shared.txt'])
})

test('asks for what the project’s strategy would meet: a rebase conflicts where a merge does not', async () => {
  await using job = await startJob({ files })
  const twice =
    'echo theirs > shared.txt; git commit -qam "Change"; printf "base\\n" > shared.txt; git commit -qam "Back"; echo x > x.txt'
  const task = await reviewed(job, twice)
  await job.repository.commit('Meanwhile', { 'shared.txt': 'mine\n' })
  const other = await reviewed(job, 'echo y > y.txt', 'Another')
  // The commits of both were compared by now.
  await merge(job, other)
  expect((await job.running.client.call('tasks.get', { task_id: task.id })).base_conflict).toBeNull()
  await job.settings({ merge_strategy: 'rebase' })
  expect((await conflicting(job, task)).base_conflict?.files).toEqual(['shared.txt'])
})

test('leaves no ref, object, lock or folder behind in the repository', async () => {
  await using job = await startJob({ files })
  const task = await reviewed(job)
  await job.repository.commit('Meanwhile', { 'shared.txt': 'mine\n' })
  const before = await traces(job.repository)
  await conflicting(job, task)
  expect(await traces(job.repository)).toEqual(before)
})

test('takes uncommitted work as the merge would, and a merge in the worktree once it is resolved', async () => {
  await using job = await startJob({ files })
  const { client } = job.running
  const task = await reviewed(job)
  await job.repository.commit('Meanwhile', { 'shared.txt': 'mine\n' })
  await conflicting(job, task)
  const hunks = (await client.call('tasks.conflicts', { task_id: task.id })).hunks.map(({ path }) => path)
  expect(hunks).toEqual(['shared.txt'])
  const { path } = await client.call('tasks.update_branch', { task_id: task.id, on_conflict: 'editor' })
  expect((await client.call('tasks.conflicts', { task_id: task.id })).files).toEqual(['shared.txt'])
  await job.repository.write({ 'shared.txt': 'both\n' }, path)
  await clean(job, task)
  expect((await client.call('tasks.conflicts', { task_id: task.id })).files).toEqual([])
})

test('a review that passes over a conflict is notified as the conflict', async () => {
  await using job = await startJob({ files })
  await using beacon = await createProcessBeacon()
  const agent = await job.agent('echo theirs > shared.txt; echo done')
  const task = await job.task({ review_config: { ci_steps: [beacon.hold('check', wait)] } })
  await job.claim(task, agent)
  await beacon.alive('check')
  await job.repository.commit('Meanwhile', { 'shared.txt': 'mine\n' })
  await conflicting(job, task)
  await beacon.release('check')
  const list = () => job.running.client.call('notifications.list', {})
  const { items } = await job.running.eventually(list, (page) => page.items.length > 0)
  expect(items).toMatchObject([
    {
      event_type: 'review.passed',
      title: '“A task” conflicts with main',
      body: 'Conflicts with main in shared.txt',
    },
  ])
})

test('names the commit that moved the base in each conflicting file, a merge by its task', async () => {
  await using job = await startJob({ files: { ...files, 'other.txt': 'base\n', 'gone.bin': '\0one' } })
  const { client } = job.running
  const work = 'echo theirs > shared.txt; echo theirs > other.txt; printf "\\0two" > gone.bin; git commit -qam Work'
  const task = await reviewed(job, work)
  const first = await reviewed(job, 'echo first > other.txt', 'First there')
  await merge(job, first)
  await job.repository.commit('Early', { 'shared.txt': 'early\n', 'unrelated.txt': 'x\n' })
  await job.repository.commit('Late', { 'shared.txt': 'late\n' })
  await job.repository.git(['rm', '-q', 'gone.bin'])
  await job.repository.git(['commit', '-qm', 'Remove it'])
  const { base_changes, hunks, files: conflicting } = await client.call('tasks.conflicts', { task_id: task.id })
  expect(conflicting.toSorted()).toEqual(['gone.bin', 'other.txt', 'shared.txt'])
  const brief = base_changes.map(({ path, subject, task_id }) => [path, task_id === null ? subject : task_id])
  expect(brief.toSorted()).toEqual([
    ['gone.bin', 'Remove it'],
    ['other.txt', first.id],
    ['shared.txt', 'Late'],
  ])
  expect(base_changes.every(({ commit, author }) => /^[0-9a-f]{40}$/.test(commit) && author !== '')).toBe(true)
  // Both sides of a text are there, and of a file that is whole on one side none.
  const textOf = (path: string) => hunks.find((hunk) => hunk.path === path)?.text
  expect(textOf('shared.txt')).toMatch(/late\n=+\ntheirs/)
  expect(textOf('gone.bin')).toBeNull()
})

test('shows no lines of a conflict in a file of 5 MB, and answers all the same', async () => {
  const line = `${'x'.repeat(99)}\n`
  await using job = await startJob({ files: { ...files, 'large.txt': line.repeat(52_000) } })
  const task = await reviewed(job, 'sed -i "1s/.*/theirs/" large.txt; git commit -qam Work')
  await job.repository.commit('Mine', { 'large.txt': `mine\n${line.repeat(51_999)}` })
  const found = await job.running.client.call('tasks.conflicts', { task_id: task.id })
  expect(found).toMatchObject({
    files: ['large.txt'],
    hunks: [{ path: 'large.txt', text: null }],
    base_changes: [{ path: 'large.txt', subject: 'Mine', task_id: null }],
  })
})
