import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Overlap } from '../../src-shared/contract/overlaps.ts'
import type { OverlapQueries } from '../ports/overlap-queries.ts'

/** Overlaps are read from the disk at each start, so they are kept in memory alone. */
export function createOverlapQueries(): OverlapQueries {
  const byProject = new Map<ProjectId, readonly Overlap[]>()
  const byTask = new Map<TaskId, readonly TaskId[]>()
  return {
    ofProject: (project_id) => byProject.get(project_id) ?? [],
    conflictsOf: (task_id) => byTask.get(task_id) ?? [],
    replace: (project_id, items) => {
      for (const { a, b } of byProject.get(project_id) ?? []) for (const id of [a, b]) byTask.delete(id)
      if (items.length === 0) byProject.delete(project_id)
      else byProject.set(project_id, items)
      for (const { a, b, kind } of items) {
        if (kind !== 'conflict') continue
        byTask.set(a, [...(byTask.get(a) ?? []), b])
        byTask.set(b, [...(byTask.get(b) ?? []), a])
      }
    },
  }
}
