import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { hookRuns, plugin, script } from '../../helpers/lifecycle.ts'
import { refused } from '../../helpers/refusal.ts'

const tryOut = (
  job: Job,
  hook: ReturnType<typeof script> | ReturnType<typeof plugin>,
  task_id?: string,
): Promise<HookRun> =>
  job.running.client.call('projects.test_hook', {
    project_id: job.project.id,
    event: 'before_work',
    hook,
    ...(task_id !== undefined && { task_id }),
  })

test('runs a hook on the default branch in a worktree that is removed afterwards', async () => {
  await using job = await startJob({ files: { 'hello.txt': 'hello\n' } })
  const run = await tryOut(job, script('cat hello.txt; pwd; echo "$SVC_EVENT $SVC_PROJECT_NAME"; echo oh >&2; exit 3'))
  const [hello, path = '', told] = run.stdout.split('\n')
  expect([hello, told]).toEqual(['hello', 'before_work Job'])
  expect(run).toMatchObject({ status: 'failed', exit_code: 3, stderr: 'oh\n', event: 'before_work', type: 'script' })
  expect(run.environment['SVC_WORKTREE_PATH']).toBe(path)
  expect(path).not.toBe(job.repository.path)
  expect(existsSync(path)).toBe(false)
  expect(await readdir(dirname(path))).toEqual([])
})

test('runs a hook on a task’s branch, and leaves task, files and repository alone', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  const { path } = await job.claim(
    task,
    await job.agent('echo work > work.txt; git add -A; git commit -qm Work; exit 3'),
  )
  await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  const state = async () => ({
    task: await client.call('tasks.get', { task_id: task.id }),
    history: await job.transitions(task.id),
    runs: await hookRuns(job, task.id),
    refs: await job.repository.git(['for-each-ref']),
    status: await job.repository.git(['status', '--porcelain'], { cwd: path }),
    worktrees: await job.repository.git(['worktree', 'list', '--porcelain']),
    config: await job.repository.git(['config', '--list', '--local']),
    checkout: await job.repository.git(['status', '--porcelain']),
  })
  const before = await state()
  const run = await tryOut(
    job,
    script('cat work.txt; rm work.txt; echo new > new.txt; git add -A; git commit -qm Try'),
    task.id,
  )
  expect(run).toMatchObject({ status: 'succeeded', stdout: 'work\n' })
  expect(run.environment['SVC_TASK_ID']).toBe(task.id)
  expect(await state()).toEqual(before)
  expect(existsSync(join(path, 'new.txt'))).toBe(false)
})

test('checks a plugin without running it, because it would change the task', async () => {
  await using job = await startJob()
  expect(await tryOut(job, plugin('knowledge-inject'))).toMatchObject({
    status: 'skipped',
    reason: 'not_run_in_a_test',
  })
  expect(await tryOut(job, plugin('run_merge'))).toMatchObject({ status: 'skipped', reason: 'unsupported_event' })
  const error = await refused(tryOut(job, plugin('no_such')))
  expect(error).toMatchObject({ code: 'validation_failed', details: { issues: [{ path: 'hook.name' }] } })
})

test('ends a tested hook at its timeout, and finds no task of another project', async () => {
  await using job = await startJob()
  expect(await tryOut(job, script('sleep 600', { timeout_seconds: 1 }))).toMatchObject({ status: 'timed_out' })
  const { client } = job.running
  const other = await client.call('projects.create', { name: 'Other', repo_path: job.repository.path })
  const task = await client.call('tasks.create', { project_id: other.id, title: 'Elsewhere' })
  expect(await refused(tryOut(job, script('true'), task.id))).toMatchObject({ code: 'not_found' })
})
