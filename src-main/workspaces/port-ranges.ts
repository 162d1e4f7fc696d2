import { portBases, portsFrom } from './rules/port-ranges.ts'
import type { Ground } from '../core/ground.ts'
import { savePorts } from './save-workspace.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'

/**
 * Returns the worktree's record with a range of ports: its current one, else one that no other worktree has and whose
 * ports are free now, reserved until the worktree is cleaned. If no range is left, the record stays without.
 */
export async function assignPorts(
  context: Ground,
  task: TaskRecord,
  record: WorkspaceRecord,
): Promise<WorkspaceRecord> {
  if (record.port_base !== null) return record
  const { read } = context.store
  for (const port_base of portBases(task.id)) {
    if (read.workspaces.portBases().has(port_base)) continue
    if (!(await context.places.of(task.id).ports.arePortsFree(portsFrom(port_base)))) continue
    const taken = context.feed.commit((tx) => {
      // Another worktree may have taken the range while its ports were checked.
      if (tx.workspaces.portBases().has(port_base)) return null
      const withRange = { ...record, port_base }
      savePorts(tx, task, withRange)
      return withRange
    })
    if (taken) return taken
  }
  context.log.warn({ task_id: task.id }, 'no range of ports is free, a worktree goes without')
  return record
}
