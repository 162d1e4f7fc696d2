import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { ended, hookRuns, hookRunWhere, script, setHooks } from '../../helpers/lifecycle.ts'
import { processesIn } from '../../helpers/processes-in.ts'

const gateIn = (job: Job) => join(job.running.dataDir, 'gate')
const untilOpen = (gate: string) => `until test -e '${gate}'; do sleep 0.05; done`

test('keeps the worktree for on_task_done, and cleans up afterwards', async () => {
  await using job = await startJob()
  const { client } = job.running
  const gate = gateIn(job)
  await setHooks(job, { on_task_done: [script(`${untilOpen(gate)}; cat work.txt; test -d "$SVC_WORKTREE_PATH"`)] })
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent('echo work > work.txt'))
  const passed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version: passed.version })
  await hookRunWhere(job, task.id, (run) => run.event === 'on_task_done')
  expect((await client.call('tasks.workspace', { task_id: task.id })).status).toBe('ready')
  await writeFile(gate, '')
  await job.running.eventually(
    () => client.call('tasks.workspace', { task_id: task.id }),
    ({ status }) => status === 'cleaned',
  )
  expect(existsSync(path)).toBe(false)
  expect(await hookRunWhere(job, task.id, ended('on_task_done'))).toMatchObject({
    status: 'succeeded',
    stdout: 'work\n',
  })
})

test('ends what hooks of the work still run before the worktree is removed', async () => {
  await using job = await startJob()
  const { client } = job.running
  const up = script('echo up; sleep 600', { timeout_seconds: 600 })
  await setHooks(job, { on_work_start: [up, script('echo next')] })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  const passed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version: passed.version })
  const run = await hookRunWhere(job, task.id, ended('on_work_start'))
  expect(run).toMatchObject({ status: 'failed', reason: 'ended, as the work was over', stdout: 'up\n' })
  await job.running.eventually(
    () => client.call('tasks.workspace', { task_id: task.id }),
    ({ status }) => status === 'cleaned',
  )
  // Hooks that had not begun by then never begin.
  expect(await hookRuns(job, task.id)).toHaveLength(1)
})

test('waits with the review for on_work_stop, which waits for the agent', async () => {
  await using job = await startJob()
  await job.settings({ default_review_config: { ci_steps: ['cat formatted.txt'], review_prompt: null } })
  await setHooks(job, { on_work_stop: [script('sleep 0.3; cp work.txt formatted.txt')] })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null)
  const { items } = await job.running.client.call('tasks.reviews', { task_id: task.id })
  expect(items[0]?.step_results).toMatchObject([{ exit_code: 0, output_tail: 'work\n' }])
})

test('skips the scripts of a task without a workspace, says why, and counts no failure', async () => {
  await using job = await startJob()
  const { client } = job.running
  await setHooks(job, { on_task_cancel: [script('touch somewhere')] })
  const task = await job.task()
  await client.call('tasks.cancel', { task_id: task.id })
  const run = await hookRunWhere(job, task.id, ended('on_task_cancel'))
  expect(run).toMatchObject({ status: 'skipped', reason: 'no_workspace', exit_code: null })
  const entry = (await job.transitions(task.id)).at(-1)
  const outcome = { phase: 'on_task_cancel', outcome: 'skipped', reason: 'no_workspace' }
  expect(entry?.hooks).toContainEqual(expect.objectContaining(outcome))
})

test('runs a script in the repository if its worktree is gone, and names no worktree', async () => {
  await using job = await startJob()
  const { client } = job.running
  await setHooks(job, { on_task_cancel: [script('pwd; echo "[$SVC_WORKTREE_PATH]"')] })
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent('exit 3'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  await rm(path, { recursive: true })
  await client.call('tasks.cancel', { task_id: task.id })
  const run = await hookRunWhere(job, task.id, ended('on_task_cancel'))
  expect(run.stdout).toBe(`${job.repository.path}\n[]\n`)
})

test('runs the next hook after a failed one, at any event', async () => {
  await using job = await startJob()
  await setHooks(job, { on_work_stop: [script('exit 1'), script('exit 2'), script('echo last')] })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  const runs = await hookRuns(job, task.id)
  expect(runs.map(({ index, status, exit_code }) => [index, status, exit_code])).toEqual([
    [0, 'failed', 1],
    [1, 'failed', 2],
    [2, 'succeeded', 0],
  ])
})

test('ends the hooks of a deleted task', async () => {
  await using job = await startJob()
  const { client } = job.running
  await setHooks(job, { on_work_start: [script('exec sleep 600', { timeout_seconds: 600 })] })
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent('exit 3'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  await hookRunWhere(job, task.id, (run) => run.status === 'running')
  expect(processesIn([path]).length).toBeGreaterThan(0)
  await client.call('tasks.delete', { task_id: task.id })
  await job.running.eventually(
    () => Promise.resolve(processesIn([path])),
    (left) => left.length === 0,
  )
  expect(await client.call('tasks.list', { project_id: job.project.id })).toMatchObject({ items: [] })
})
