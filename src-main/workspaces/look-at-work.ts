import type { JudgedWork, WorkFacts } from '../domain/review/judged-work.ts'
import type { Ground } from '../core/ground.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { workspaceOf } from '../core/workspace-of.ts'
import type { Worktrees } from './worktrees.ts'

interface Looking {
  readonly context: Ground
  readonly worktrees: Worktrees
}

/** Reads a task's work as it is now, and which files differ from the work that was seen or judged. */
export async function lookAtWork(
  { context, worktrees }: Looking,
  task: TaskRecord,
  { seen, judged = null }: { readonly seen: string | null; readonly judged?: JudgedWork | null },
  signal: AbortSignal,
): Promise<Omit<WorkFacts, 'by_person'>> {
  const workspace = workspaceOf(context.store.read, task)
  if (workspace?.status === 'creating' || !workspace) return { judged, work: null, seen, files: [] }
  return await worktrees.look(workspace, async (ref) => {
    const work = await context.places.of(workspace.task_id).work.work(ref, { signal })
    const tree = work?.tree ?? null
    const before = seen !== null && seen !== tree ? seen : (judged?.tree ?? null)
    const differs = tree !== null && before !== null && before !== tree
    const files = differs
      ? await context.places.of(workspace.task_id).work.changedFiles(ref, before, tree, { signal })
      : []
    return { judged, work, seen, files }
  })
}
