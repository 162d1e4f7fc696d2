import type { HookRun, LifecycleHooks } from '../../src-shared/contract/lifecycle-hooks.ts'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import type { Job } from './job.ts'

type Hooks = NonNullable<OperationInput<'projects.update_settings'>['lifecycle_hooks']>
type Script = Partial<Extract<NonNullable<Hooks['before_work']>[number], { type: 'script' }>>

/** A script hook with further fields. */
export const script = (command: string, more: Script = {}) => ({ type: 'script' as const, command, ...more })

/** A plugin hook with further fields. */
export const plugin = (name: string, more: object = {}) => ({ type: 'plugin' as const, name, ...more })

/** Sets exactly these hooks in the job's project. */
export async function setHooks(job: Job, lifecycle_hooks: Hooks): Promise<void> {
  await job.settings({ lifecycle_hooks: lifecycle_hooks as LifecycleHooks })
}

/** All runs of a task's hooks, oldest first. */
export async function hookRuns(job: Job, task_id: string): Promise<readonly HookRun[]> {
  const { items } = await job.running.client.call('tasks.hook_runs', { task_id })
  return items.toSorted((a, b) => (a.started_at < b.started_at ? -1 : 1))
}

/** Resolves with the first matching run. */
export async function hookRunWhere(job: Job, task_id: string, fits: (run: HookRun) => boolean): Promise<HookRun> {
  const runs = await job.running.eventually(
    () => hookRuns(job, task_id),
    (all) => all.some(fits),
  )
  const found = runs.find(fits)
  if (!found) throw new Error('It was there a moment ago.')
  return found
}

/** Returns whether a run of this event has ended. */
export const ended =
  (event: HookRun['event']) =>
  (run: HookRun): boolean =>
    run.event === event && run.status !== 'running'
