import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { tokenOfRun } from '../../helpers/run-token.ts'

const merge = async (job: Job, task: Task): Promise<Task> => {
  const { version } = await job.running.client.call('tasks.get', { task_id: task.id })
  const move = { task_id: task.id, status: 'merging', version }
  return (await job.running.client.call('tasks.transition', move)).task
}
const undo = async (job: Job, task: Task) => (await job.running.client.call('tasks.unmerge', { task_id: task.id })).task
const main = (job: Job) => job.repository.git(['rev-parse', 'main'])

/** A task whose work has passed review. */
async function reviewed(job: Job, command = 'echo theirs > shared.txt', more: { stacked_on?: string } = {}) {
  const task = await job.task({ title: 'Change the shared line', ...more })
  await job.claim(task, await job.agent(`${command}; echo done`))
  return await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
}

const start = (options: Parameters<typeof startJob>[0] = {}) =>
  startJob({ files: { 'shared.txt': 'base\n', 'other.txt': 'other\n' }, ...options })

async function told(job: Job, task: Task) {
  const { code, details, message } = await refused(undo(job, task))
  return { code, reason: details?.['reason'], message }
}

test.each(['merge', 'squash', 'rebase'] as const)(
  'takes back a %s: the base, its checkout, the task at its gate, passed, and its worktree',
  async (merge_strategy) => {
    await using job = await start()
    const { client } = job.running
    await job.settings({ merge_strategy })
    const task = await reviewed(job, 'echo one > one.txt; git add .; git commit -qm One; echo theirs > shared.txt')
    if (merge_strategy === 'rebase') await job.repository.commit('Elsewhere', { 'other.txt': 'changed\n' })
    const before = await main(job)
    const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
    const done = await merge(job, task)
    expect(done).toMatchObject({ status: 'done', merged: { base_branch: 'main', commit: await main(job) } })
    expect(await readFile(join(job.repository.path, 'shared.txt'), 'utf8')).toBe('theirs\n')

    const back = await undo(job, task)

    expect(back).toMatchObject({
      status: 'review',
      merged: null,
      entry_barrier: false,
      error_annotation: null,
      review_passed_at: task.review_passed_at,
      review_summary: { status: 'passed', attempt_number: 1 },
    })
    expect(await main(job)).toBe(before)
    expect(await job.repository.git(['status', '--porcelain'])).toBe('')
    expect(await readFile(join(job.repository.path, 'shared.txt'), 'utf8')).toBe('base\n')
    expect(
      (await client.call('tasks.reviews', { task_id: task.id })).items.map(({ id, status }) => [id, status]),
    ).toEqual(reviews.map(({ id }) => [id, 'passed']))
    const workspace = await client.call('tasks.workspace', { task_id: task.id })
    expect(workspace.status).toBe('ready')
    expect(await readFile(join(workspace.path, 'shared.txt'), 'utf8')).toBe('theirs\n')
    const last = (await job.transitions(task.id)).at(-1)
    expect(last).toMatchObject({ from_state: 'done', to_state: 'review', rejection: false })
    expect(last?.triggered_by).toMatch(/^user:/)

    expect(await merge(job, task)).toMatchObject({ status: 'done' })
    expect(await job.repository.git(['show', 'main:shared.txt'])).toBe('theirs')
  },
)

test('takes back what landed after its merge was tested, the newest first', async () => {
  await using job = await start()
  const landing = { mode: 'speculative' as const, steps: ['true'], max_parallel: 2, retry_failed: false }
  await job.settings({ landing })
  const before = await main(job)
  const [first, second] = await Promise.all([reviewed(job), reviewed(job, 'echo two > two.txt')])
  await Promise.all([merge(job, first), merge(job, second)])
  const newest = await Promise.all(
    [first, second].map(({ id }) => job.running.client.call('tasks.get', { task_id: id })),
  )
  const tip = await main(job)
  const upper = newest.find(({ merged }) => merged?.commit === tip)
  const lower = newest.find(({ merged }) => merged?.commit !== tip)
  if (!upper || !lower) throw new Error('One of the two is the newest.')
  expect(await told(job, lower)).toMatchObject({ code: 'unmerge_too_late', reason: 'newer' })
  expect(await undo(job, upper)).toMatchObject({ status: 'review' })
  expect(await main(job)).toBe(lower.merged?.commit)
  expect(await undo(job, lower)).toMatchObject({ status: 'review' })
  expect(await main(job)).toBe(before)
})

test('lets one of two win who undo at once, and tells the other that it is undone', async () => {
  await using job = await start()
  const task = await reviewed(job)
  await merge(job, task)
  const answers = await Promise.allSettled([undo(job, task), undo(job, task)])
  expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'unmerge_too_late', details: { reason: 'undone' }, message: 'This merge has been undone already.' },
  })
  expect((await job.history(task.id)).filter((entry) => entry.startsWith('done >'))).toEqual(['done > review by user'])
})

test('refuses what a remote has, what is older than ten minutes, and what the base has moved past', async () => {
  let now = Date.now()
  await using job = await start({ clock: { now: () => now } })
  const task = await reviewed(job)
  expect(await told(job, task)).toEqual({
    code: 'unmerge_too_late',
    reason: 'none',
    message: 'This task has no merge to undo.',
  })
  await merge(job, task)
  const merged = await main(job)
  await job.repository.git(['init', '--bare', '--quiet', join(job.repository.beside, 'remote.git')])
  await job.repository.git(['remote', 'add', 'origin', join(job.repository.beside, 'remote.git')])
  await job.repository.git(['push', '--quiet', 'origin', 'main'])
  expect(await told(job, task)).toEqual({
    code: 'unmerge_too_late',
    reason: 'pushed',
    message: 'origin/main has this merge already. Revert it instead.',
  })
  await job.repository.git(['remote', 'remove', 'origin'])
  await job.repository.commit('On top', { 'other.txt': 'mine\n' })
  expect(await told(job, task)).toEqual({
    code: 'unmerge_too_late',
    reason: 'newer',
    message: 'main has changed since this merge. Revert it instead.',
  })
  await job.repository.git(['reset', '--quiet', '--hard', 'HEAD~1'])
  now += 10 * 60_000 + 1
  expect(await told(job, task)).toEqual({
    code: 'unmerge_too_late',
    reason: 'time',
    message: 'This was merged more than 10 minutes ago. Revert it instead.',
  })
  expect(await main(job)).toBe(merged)
  now -= 60_000
  expect(await undo(job, task)).toMatchObject({ status: 'review' })
})

test('touches no change in a checkout: keeps those elsewhere, stops for those in its files', async () => {
  await using job = await start()
  const task = await reviewed(job)
  await merge(job, task)
  const merged = await main(job)
  await job.repository.write({ 'other.txt': 'mine\n', 'shared.txt': 'mine too\n' })
  const dirty = await refused(undo(job, task))
  expect(dirty).toMatchObject({ code: 'merge_target_dirty', details: { files: ['shared.txt'] } })
  expect(dirty.message).toContain('then undo the merge again')
  expect(await main(job)).toBe(merged)
  expect(await readFile(join(job.repository.path, 'shared.txt'), 'utf8')).toBe('mine too\n')
  expect(await job.running.client.call('tasks.get', { task_id: task.id })).toMatchObject({
    status: 'done',
    merged: { commit: merged },
  })
  await job.repository.git(['checkout', '--quiet', '--', 'shared.txt'])
  expect(await undo(job, task)).toMatchObject({ status: 'review' })
  expect(await readFile(join(job.repository.path, 'other.txt'), 'utf8')).toBe('mine\n')
  expect(await readFile(join(job.repository.path, 'shared.txt'), 'utf8')).toBe('base\n')
})

test('makes a deleted branch anew, and keeps what a rewritten one no longer leads to', async () => {
  await using job = await start()
  const [deleted, rewritten] = await Promise.all([reviewed(job), reviewed(job, 'echo two > two.txt')])
  await merge(job, deleted)
  const { branch } = await job.running.client.call('tasks.workspace', { task_id: deleted.id })
  const head = await job.repository.git(['rev-parse', branch])
  await job.repository.git(['branch', '--quiet', '-D', branch])
  expect(await undo(job, deleted)).toMatchObject({ status: 'review' })
  expect(await job.repository.git(['rev-parse', branch])).toBe(head)

  await merge(job, rewritten)
  const other = await job.running.client.call('tasks.workspace', { task_id: rewritten.id })
  const lost = await job.repository.git(['rev-parse', other.branch])
  await job.repository.git(['branch', '--quiet', '--force', other.branch, `${lost}~1`])
  expect(await undo(job, rewritten)).toMatchObject({ status: 'review' })
  const { items } = await job.running.client.call('rescues.of_task', { task_id: rewritten.id })
  expect(items).toMatchObject([{ commit: lost, kind: 'commits' }])
})

test('still undoes after a restart', async () => {
  await using job = await start({ keepData: true })
  const task = await reviewed(job)
  const before = await main(job)
  await merge(job, task)
  job.running = await job.running.restart()
  expect(await undo(job, task)).toMatchObject({ status: 'review', review_passed_at: task.review_passed_at })
  expect(await main(job)).toBe(before)
})

test('puts a task that lay on the merged one back on its branch', async () => {
  await using job = await start()
  const { client } = job.running
  const lower = await reviewed(job)
  const upper = await reviewed(job, 'echo upper > upper.txt', { stacked_on: lower.id })
  await merge(job, lower)
  const baseOf = async () => (await client.call('tasks.workspace', { task_id: upper.id })).base_branch
  await job.running.eventually(baseOf, (base) => base === 'main')
  expect(await undo(job, lower)).toMatchObject({ status: 'review' })
  const { branch } = await client.call('tasks.workspace', { task_id: lower.id })
  await job.running.eventually(baseOf, (base) => base === branch)
  const diff = await client.call('tasks.diff', { task_id: upper.id, scope: 'branch' })
  expect(diff.files.map(({ path }) => path)).toEqual(['upper.txt'])
  expect(await refused(merge(job, upper))).toMatchObject({ code: 'dependency_gate' })
  await merge(job, lower)
  await job.running.eventually(baseOf, (base) => base === 'main')
  expect(await merge(job, upper)).toMatchObject({ status: 'done' })
})

test('is for people alone', async () => {
  await using job = await start()
  const { client } = job.running
  const task = await reviewed(job)
  await merge(job, task)
  const token = await tokenOfRun(job)
  const call = job.running.clientWith(token).call('tasks.unmerge', { task_id: task.id })
  expect(await refused(call)).toMatchObject({ code: 'humans_only' })
  expect(await client.call('tasks.get', { task_id: task.id })).toMatchObject({ status: 'done' })
})
