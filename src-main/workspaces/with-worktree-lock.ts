import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId } from '../../src-shared/contract/ids.ts'
import { workspaceLocked } from '../domain/task/claim-guard.ts'
import type { EngineContext } from '../core/context.ts'

/** Runs `work` while holding the lock of a worktree; refuses if it is locked. */
export async function withWorktreeLock<T>(
  context: Pick<EngineContext, 'workspaces' | 'newId'>,
  path: string | null,
  work: () => Promise<T>,
): Promise<T | Refusal> {
  if (path === null) return await work()
  const execution_id = context.newId() as ExecutionId
  const holder = await context.workspaces.lock(path, { execution_id, pid: null })
  if (holder) return { ...workspaceLocked, details: { ...holder } }
  try {
    return await work()
  } finally {
    await context.workspaces.unlock(path, execution_id)
  }
}
