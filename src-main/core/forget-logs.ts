import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Ground } from './ground.ts'

/** Removes the logs of deleted tasks. Files that can't be removed are logged as a warning; no error is thrown. */
export async function forgetLogs(
  { logs, log }: Pick<Ground, 'logs' | 'log'>,
  task_ids: readonly TaskId[],
): Promise<void> {
  for (const task_id of task_ids)
    await logs.forget(task_id).catch((error: unknown) => {
      log.warn({ err: error, task_id }, 'the logs of a deleted task could not be removed')
    })
}
