import type { Workspace } from '../../src-shared/contract/workspaces.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import type { ApiParts } from './context.ts'

/** Returns a workspace with the current facts from git and its lock file. */
export async function workspaceView(parts: ApiParts, record: WorkspaceRecord, signal: AbortSignal): Promise<Workspace> {
  const { repo_path: _inside, stack: _stack, ...known } = record
  const { at = null, left_there = [] } = (await parts.places.of(record.task_id).arrivals?.look(record.task_id)) ?? {}
  const workspace = { ...known, arrived_at: at, left_there: [...left_there] }
  const unknown = { dirty: false, ahead: 0, behind: 0, lock: null }
  if (record.status === 'creating') return { ...workspace, ...unknown }
  return parts.engine.worktrees.look(record, async (ref) => {
    const { path } = ref
    if (path === null) return { ...workspace, ...unknown }
    const place = parts.places.of(workspace.task_id)
    const [status, lock] = await Promise.all([
      place.worktrees.status({ ...ref, path }, { signal }),
      place.locks.readLock(path),
    ])
    return { ...workspace, dirty: status.dirty, ahead: status.ahead, behind: status.behind, lock }
  })
}
