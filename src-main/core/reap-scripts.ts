import type { TaskId } from '../../src-shared/contract/ids.ts'
import { RunnerUnreachableError } from '../ports/runner-kinds.ts'
import type { Scripts } from '../ports/scripts.ts'
import type { Ground } from './ground.ts'

/** Ends what a killed service left of a task's scripts, wherever such may have been started. */
export async function reapScripts(
  context: Pick<Ground, 'places' | 'store' | 'log'>,
  task_id: TaskId,
  processMarker: string,
): Promise<void> {
  const { places, store } = context
  const task = store.read.tasks.get(task_id)
  const where = [places.of(task_id).scripts]
  if (task) where.push(places.scripts({ task_id, project_id: task.project_id }))
  // Set-up commands run where the worktree was made.
  where.push(places.here.scripts)
  await reapIn(context, where, processMarker)
}

/** Ends what a killed service left of the scripts with this marker, in each of these. */
export async function reapIn(
  context: Pick<Ground, 'log'>,
  where: readonly Scripts[],
  processMarker: string,
): Promise<void> {
  for (const scripts of new Set(where)) await unlessUnreachable(context, () => scripts.reap(processMarker))
}

/** Ends processes of a killed service; the start goes on without a runner that can't be reached. */
export async function unlessUnreachable({ log }: Pick<Ground, 'log'>, reap: () => Promise<void>): Promise<void> {
  try {
    await reap()
  } catch (error) {
    if (!(error instanceof RunnerUnreachableError)) throw error
    log.warn({ err: error }, 'what a killed service left on a runner could not be ended')
  }
}
