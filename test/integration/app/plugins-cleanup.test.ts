import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { smallWorkflow } from '../../helpers/small-workflow.ts'
import { lastHook, timeline } from '../../helpers/timeline.ts'

const hour = 3_600_000

async function move(job: Job, task_id: string, status: string): Promise<void> {
  const { version } = await job.running.client.call('tasks.get', { task_id })
  await job.running.client.call('tasks.transition', { task_id, status, version })
}

const workspace = (job: Job, { id }: Task) => job.running.client.call('tasks.workspace', { task_id: id })

/** A task whose agent left work in its worktree and failed. */
async function worked(job: Job): Promise<{ task: Task; path: string }> {
  const task = await job.task({ title: 'Worked' })
  const { path } = await job.claim(task, await job.agent('echo left > left.txt; exit 1'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  return { task, path }
}

test.concurrent('cleanup_workspace_now removes the worktree at once, but never the branch or unsaved work', async () => {
  const plugin = 'cleanup_workspace_now'
  await using job = await startJob({
    workflow: smallWorkflow({ blocked: { on_enter: [{ plugin }], after_enter: [{ plugin }, lastHook] } }),
  })
  const { task, path } = await worked(job)
  await move(job, task.id, 'blocked')
  expect(await timeline(job, task.id, 'blocked')).toEqual([
    'on_enter cleanup_workspace_now ok',
    'after_enter cleanup_workspace_now skipped not_needed',
  ])
  const cleaned = await workspace(job, task)
  expect(cleaned.status).toBe('cleaned')
  expect(existsSync(path)).toBe(false)
  expect(await job.repository.git(['branch', '--list', '--format=%(refname:short)', cleaned.branch])).toBe(
    cleaned.branch,
  )
  const kept = await job.repository.git(['for-each-ref', '--format=%(refname)', `refs/svc/rescue/${task.id}`])
  expect(await job.repository.git(['show', `${kept}:left.txt`])).toBe('left')
  const untouched = await job.task({ title: 'Never begun' })
  await move(job, untouched.id, 'blocked')
  expect((await timeline(job, untouched.id, 'blocked'))[0]).toBe('on_enter cleanup_workspace_now skipped no_workspace')
})

test.concurrent('schedule_workspace_cleanup replaces the clean-up of its state', async () => {
  const time = { ms: Date.parse('2026-11-21T09:00:00.000Z') }
  const plugin = 'schedule_workspace_cleanup'
  await using job = await startJob({
    clock: { now: () => time.ms },
    config: { cleanupDelaySeconds: 7_200 },
    workflow: smallWorkflow({
      done: { on_enter: [{ plugin, config: { seconds: 3_600 } }, lastHook] },
      blocked: { on_enter: [{ plugin }, lastHook] },
    }),
  })
  const { task, path } = await worked(job)
  await move(job, task.id, 'blocked')
  // Without an option it waits as long as for cancelled tasks.
  expect(await timeline(job, task.id, 'blocked')).toEqual([
    'on_enter schedule_workspace_cleanup ok due at 2026-11-21T11:00:00.000Z',
  ])
  await move(job, task.id, 'working')
  await job.running.taskWhere(task.id, (one) => one.status === 'working' && !one.entry_barrier)
  await move(job, task.id, 'done')
  expect(await timeline(job, task.id, 'done')).toEqual([
    'on_enter schedule_workspace_cleanup ok due at 2026-11-21T10:00:00.000Z',
  ])
  expect(await workspace(job, task)).toMatchObject({
    status: 'cleanup_scheduled',
    cleanup_at: '2026-11-21T10:00:00.000Z',
  })
  expect(existsSync(path)).toBe(true)
  time.ms += hour
  job.running = await job.running.restart()
  await job.running.eventually(
    () => workspace(job, task),
    (one) => one.status === 'cleaned',
  )
  expect(existsSync(path)).toBe(false)
})

test.concurrent('never removes the parent’s worktree for an ordered subtask', async () => {
  await using job = await startJob({
    workflow: smallWorkflow({
      cancelled: {
        on_enter: [{ plugin: 'cleanup_workspace_now' }, { plugin: 'schedule_workspace_cleanup' }, lastHook],
      },
      done: { on_enter: [lastHook] },
    }),
  })
  const { task: parent, path } = await worked(job)
  const subtask = () => job.task({ title: 'Turn', parent_id: parent.id, subtask_mode: 'ordered' })
  const [cancelled, done] = [await subtask(), await subtask()]
  await job.running.client.call('tasks.cancel', { task_id: cancelled.id })
  expect(await timeline(job, cancelled.id, 'cancelled')).toEqual([
    'on_enter cleanup_workspace_now skipped not_needed',
    'on_enter schedule_workspace_cleanup skipped not_needed',
  ])
  // The state's own clean-up has nothing to do here; the restart waits for what follows it.
  await move(job, done.id, 'done')
  await timeline(job, done.id, 'done')
  job.running = await job.running.restart()
  expect(await workspace(job, parent)).toMatchObject({ status: 'ready', cleanup_at: null })
  expect(existsSync(`${path}/left.txt`)).toBe(true)
})
