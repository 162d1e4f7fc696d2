import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import { workspaceLocked } from '../tasks/rules/claim-guard.ts'
import type { Ground } from '../core/ground.ts'

/** Runs `work` while holding the lock of a worktree; refuses if it is locked. */
export async function withWorktreeLock<T>(
  context: Pick<Ground, 'places' | 'newId'>,
  task_id: TaskId,
  path: string | null,
  work: () => Promise<T>,
): Promise<T | Refusal> {
  if (path === null) return await work()
  const { locks } = context.places.of(task_id)
  const execution_id = context.newId() as ExecutionId
  const holder = await locks.lock(path, { execution_id, pid: null })
  if (holder) return { ...workspaceLocked, details: { ...holder } }
  try {
    return await work()
  } finally {
    await locks.unlock(path, execution_id)
  }
}
