import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

const merge = (job: Job, task: Task) =>
  job.running.client.call('tasks.transition', { task_id: task.id, status: 'merging', version: task.version })

/** A task whose work, a change of `shared.txt`, has passed review. */
async function reviewedTask(job: Job): Promise<Task> {
  const task = await job.task({ title: 'Change the shared line' })
  await job.claim(task, await job.agent('echo theirs > shared.txt; echo done'))
  return job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
}

test.concurrent('reports a conflict with its files, and merges once it is resolved on the branch', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const { client } = job.running
  const task = await reviewedTask(job)
  await job.repository.commit('Change it too', { 'shared.txt': 'mine\n' })
  const failed = await merge(job, task)
  expect(failed.task).toMatchObject({
    status: 'merge_failed',
    error_annotation: { type: 'merge_conflict', files: ['shared.txt'], recovery_actions: ['retry_merge'] },
  })
  expect(await job.repository.git(['show', 'main:shared.txt'])).toBe('mine')
  const [told] = (await client.call('notifications.list', {})).items
  expect(told).toMatchObject({ event_type: 'merge.failed', task_id: task.id, read: false })
  const workspace = await client.call('tasks.workspace', { task_id: task.id })
  expect(workspace.status).toBe('cleaned')
  await expect(access(workspace.path)).rejects.toThrow('ENOENT')

  const place = join(job.repository.beside, 'resolve')
  await job.repository.git(['worktree', 'add', '--quiet', place, workspace.branch])
  const resolved = { 'shared.txt': 'both\n' }
  await job.repository.git(['merge', '--quiet', 'main'], { cwd: place }).catch(() => undefined)
  await job.repository.commit('Resolve it', resolved, place)
  await job.repository.git(['worktree', 'remove', place])
  // The resolution was not reviewed.
  const refusal = await refused(client.call('tasks.recover', { task_id: task.id, action: 'retry_merge' }))
  const { tree } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect([refusal.code, refusal.details]).toEqual(['review_not_ready', { tree, files: ['shared.txt'] }])
  const { version } = failed.task
  const seen = { task_id: task.id, status: 'merging', version, tree: tree ?? '' }
  const merged = await client.call('tasks.transition', seen)
  expect(merged.task).toMatchObject({ status: 'done', error_annotation: null })
  const [review] = (await client.call('tasks.reviews', { task_id: task.id })).items
  expect(review?.verdicts).toMatchObject([{ verdict: 'pass', tree }])
  expect(await job.repository.git(['show', 'main:shared.txt'])).toBe('both')
  expect(await job.history(task.id)).toEqual([
    'backlog > in_progress by agent',
    'in_progress > review by system',
    'review > merging by user',
    'merging > merge_failed by user',
    'merge_failed > merging by user',
    'merging > done by user',
  ])
})

test.concurrent('lets the coder continue after a conflict in a worktree created again from its branch', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const { client } = job.running
  const task = await reviewedTask(job)
  await job.repository.commit('Change it too', { 'shared.txt': 'mine\n' })
  const failed = await merge(job, task)
  const agent_id = failed.task.roles['coder']?.id ?? ''
  await client.call('agents.update', {
    agent_id,
    config: { command: 'git merge -q main; echo both > shared.txt; git commit -qam Resolved; echo done' },
  })
  await client.call('tasks.transition', { task_id: task.id, status: 'in_progress', version: failed.task.version })
  const again = await job.running.taskWhere(
    task.id,
    (one) => one.review_passed_at !== null && one.status === 'review' && !one.entry_barrier,
  )
  expect(again.review_summary?.attempt_number).toBe(2)
  expect((await merge(job, again)).task.status).toBe('done')
  expect(await job.repository.git(['show', 'main:shared.txt'])).toBe('both')
})

test.concurrent('lets a task whose merge failed get another coder, or be cancelled', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const { client } = job.running
  const tasks = await Promise.all([reviewedTask(job), reviewedTask(job)])
  await job.repository.commit('Change it too', { 'shared.txt': 'mine\n' })
  const [given, dropped] = await Promise.all(tasks.map(async (task) => (await merge(job, task)).task))
  expect([given?.status, dropped?.status]).toEqual(['merge_failed', 'merge_failed'])
  const other = await job.agent('echo done', 'Other')
  const role = { task_id: given?.id ?? '', role: 'coder', agent_id: other.id }
  expect((await client.call('tasks.assign_role', role)).task).toMatchObject({
    status: 'todo',
    error_annotation: null,
    roles: { coder: { id: other.id } },
  })
  expect((await client.call('tasks.cancel', { task_id: dropped?.id ?? '' })).task.status).toBe('cancelled')
})

test.concurrent('stops before anything moves if the merge would touch a checkout’s changes', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const task = await reviewedTask(job)
  await job.repository.write({ 'shared.txt': 'not committed\n' })
  const before = await job.repository.git(['rev-parse', 'main'])
  const dirty = await refused(merge(job, task))
  expect(dirty).toMatchObject({ code: 'merge_target_dirty', status: 409, details: { files: ['shared.txt'] } })
  const now = await job.running.client.call('tasks.get', { task_id: task.id })
  expect(now).toMatchObject({ status: 'review', version: task.version, error_annotation: null })
  expect(await job.repository.git(['rev-parse', 'main'])).toBe(before)
  expect((await job.transitions(task.id)).at(-1)?.to_state).toBe('review')
  await job.repository.git(['checkout', '--quiet', '--', 'shared.txt'])
  expect((await merge(job, task)).task.status).toBe('done')
  expect(await job.repository.git(['status', '--porcelain'])).toBe('')
})

test.concurrent('says which changes git hides, and how to show them', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const task = await reviewedTask(job)
  await job.repository.git(['update-index', '--skip-worktree', 'shared.txt'])
  await job.repository.write({ 'shared.txt': 'not committed\n' })
  expect(await refused(merge(job, task))).toMatchObject({
    code: 'merge_target_dirty',
    message: expect.stringContaining('"git update-index --no-skip-worktree -- shared.txt"') as unknown,
    details: { files: ['shared.txt'], flags: [{ path: 'shared.txt', flag: 'skip-worktree' }] },
  })
  await job.repository.git(['update-index', '--no-skip-worktree', 'shared.txt'])
  await job.repository.git(['checkout', '--quiet', '--', 'shared.txt'])
  expect((await merge(job, task)).task.status).toBe('done')
})

test.concurrent('merges once when two people merge at the same time', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const task = await reviewedTask(job)
  const answers = await Promise.allSettled([merge(job, task), merge(job, task), merge(job, task)])
  expect(answers.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
  expect(await job.repository.git(['rev-list', '--count', '--merges', 'main'])).toBe('1')
})

test.concurrent('continues automatically after a passed review where the workflow says so', async () => {
  await using job = await startJob({
    workflow: (standard) => ({
      ...standard,
      states: standard.states.map((state) =>
        state.name === 'review'
          ? {
              ...state,
              hooks: {
                ...state.hooks,
                after_enter: [{ plugin: 'auto_cascade_on_review_pass', on_success: { cascade: 'merging' } }],
              },
            }
          : state,
      ),
    }),
  })
  const task = await job.task({ review_config: { ci_steps: ['test -f new.txt'] } })
  await job.claim(task, await job.agent('echo new > new.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.status === 'done')
  expect(await job.repository.git(['show', 'main:new.txt'])).toBe('new')
  const judged = await job.task({ title: 'Judged by a person' })
  const { client } = job.running
  const me = await client.call('auth.me', {})
  await client.call('tasks.assign_role', { task_id: judged.id, role: 'reviewer', user_id: me.id })
  await job.claim(judged, await job.agent('echo other > other.txt; echo done'))
  await job.running.taskWhere(judged.id, (one) => one.status === 'review' && !one.entry_barrier)
  await client.call('tasks.verdict', { task_id: judged.id, verdict: 'pass' })
  await job.running.taskWhere(judged.id, (one) => one.status === 'done')
  expect(await job.repository.git(['show', 'main:other.txt'])).toBe('other')
})

test.concurrent('distinguishes folders that are no project', async () => {
  await using job = await startJob()
  const { client } = job.running
  const create = (repo_path: string) => refused(client.call('projects.create', { name: 'X', repo_path }))
  await job.repository.write({ 'plain/file.txt': 'x' }, job.repository.beside)
  const plain = join(job.repository.beside, 'plain')
  expect(await create(plain)).toMatchObject({ code: 'not_a_git_repository', status: 400 })
  expect(await create(join(plain, 'file.txt'))).toMatchObject({ code: 'not_a_git_repository' })
  expect(await create(join(plain, 'nothing'))).toMatchObject({ code: 'not_a_git_repository' })
  await job.repository.git(['init', '--quiet', plain])
  const empty = await create(plain)
  expect(empty).toMatchObject({ code: 'repository_has_no_commits', status: 400 })
  expect(empty.message).toMatch(/commit/)
  expect(await refusalOf(client.call('system.inspect_folder', { path: plain }))).toBe('repository_has_no_commits')
  const other = client.call('projects.create', { name: 'X', repo_path: job.repository.path, default_branch: 'nope' })
  expect(await refusalOf(other)).toBe('validation_failed')
  expect((await client.call('projects.list', {})).items).toHaveLength(1)
  await job.repository.git(['branch', 'next'])
  const made = await client.call('projects.create', {
    name: 'X',
    repo_path: job.repository.path,
    default_branch: 'next',
  })
  expect(made.repos).toMatchObject([{ default_branch: 'next', is_primary: true }])
})
