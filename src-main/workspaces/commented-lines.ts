import { sentTo, type FoundChange } from '../core/comment-records.ts'
import type { Ground } from '../core/ground.ts'
import { redactorOf } from '../core/redactor-of.ts'
import { workspaceOf } from '../core/workspace-of.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { Worktrees } from './worktrees.ts'

const limitMs = 60_000

/** Returns how the lines of comments that were sent to a run's role changed; called after the run's end. */
export async function findCommentedChanges(
  { context, worktrees }: { readonly context: Ground; readonly worktrees: Worktrees },
  run: ExecutionRecord,
): Promise<readonly FoundChange[]> {
  const { read } = context.store
  const task = read.tasks.get(run.task_id)
  const workspace = task && workspaceOf(read, task)
  if (!workspace || workspace.base_commit === null) return []
  const asked = sentTo(read, run).flatMap(({ id, anchor, sent }) =>
    anchor?.side === 'new' && sent?.tree ? [{ comment_id: id, anchor, tree: sent.tree }] : [],
  )
  const redact = redactorOf(context, read, run.project_id)
  const signal = AbortSignal.timeout(limitMs)
  const found: FoundChange[] = []
  try {
    for (const [tree, places] of Map.groupBy(asked, (one) => one.tree)) {
      const anchors = places.map(({ anchor }) => anchor)
      const changes = await worktrees.look(workspace, (ref) =>
        context.places.of(workspace.task_id).diffs.lineChanges(ref, tree, anchors, { signal }),
      )
      for (const [index, change] of changes.entries()) {
        const comment_id = places[index]?.comment_id
        if (change === null || comment_id === undefined) continue
        const [before, after] = [change.before.map(redact), change.after.map(redact)]
        found.push({ comment_id, change: { ...change, before, after } })
      }
    }
  } catch (error) {
    if (!(error instanceof WorkspaceError) && !signal.aborted) throw error
    context.log.warn({ err: error, task_id: run.task_id }, 'the lines of comments could not be looked at')
  }
  return found
}
