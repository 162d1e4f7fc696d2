import type { CommentAnchor } from '../../src-shared/contract/comments.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { CommentId } from '../../src-shared/contract/ids.ts'
import { suggestionIn } from '../../src-shared/contract/suggestions.ts'
import { invalidInput, isRefusal, notFound } from '../domain/refusal.ts'
import { saveComment } from '../core/comment-records.ts'
import { workspaceOf } from '../core/workspace-of.ts'
import { commitMessage, keepMessage } from '../workspaces/commit-message.ts'
import { saveWorkspace } from '../workspaces/save-workspace.ts'
import { withWorktreeLock } from '../workspaces/with-worktree-lock.ts'
import type { PlacedLines } from '../ports/line-changer.ts'
import type { CommentRecord } from '../ports/comment-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { StepServices } from '../steps/step-services.ts'
import { checkBranchChange } from './update-branch.ts'

/** Line changes that comments suggest. */
export interface Suggestions {
  /** Returns the lines that a new comment is about, if it suggests others; null if there are none to replace. */
  original(
    task: TaskRecord,
    anchor: CommentAnchor | null,
    body: string,
    signal: AbortSignal,
  ): Promise<PlacedLines | null>
  /** Commits a comment's suggestion to the branch of its task, and resolves the comment. */
  apply(comment_id: CommentId, by: string, signal: AbortSignal): Promise<CommentRecord | Refusal>
}

export function createSuggestions(deps: StepServices): Suggestions {
  return {
    original: (task, anchor, body, signal) => readOriginal(deps, task, anchor, body, signal),
    apply: (comment_id, by, signal) => apply(deps, comment_id, by, signal),
  }
}

async function readOriginal(
  { context, worktrees }: StepServices,
  task: TaskRecord,
  anchor: CommentAnchor | null,
  body: string,
  signal: AbortSignal,
): Promise<PlacedLines | null> {
  const workspace = workspaceOf(context.store.read, task)
  if (anchor?.side !== 'new' || suggestionIn(body) === null || !workspace || workspace.base_commit === null) return null
  try {
    return await worktrees.look(workspace, (ref) =>
      context.places.of(workspace.task_id).lines.lines(ref, anchor, { signal }),
    )
  } catch (error) {
    // The comment is kept anyway, with nothing to apply.
    if (!(error instanceof WorkspaceError) || signal.aborted) throw error
    return null
  }
}

interface Applicable {
  readonly task: TaskRecord
  readonly workspace: WorkspaceRecord
  readonly anchor: CommentAnchor
  readonly original: PlacedLines
  readonly replacement: readonly string[]
}

async function apply(
  deps: StepServices,
  comment_id: CommentId,
  by: string,
  signal: AbortSignal,
): Promise<CommentRecord | Refusal> {
  const { context, worktrees } = deps
  const first = check(deps, comment_id)
  if (isRefusal(first)) return first
  return await worktrees.exclusively(first.task, async () => {
    const found = check(deps, comment_id)
    if (isRefusal(found)) return found
    const ref = await worktrees.ref(found.workspace)
    const place = context.places.of(found.workspace.task_id)
    return await withWorktreeLock(context, found.workspace.task_id, ref.path, async () => {
      const { task, anchor, original, replacement } = found
      const request = { ...ref, place: anchor, original, replacement }
      const message = commitMessage(task, `Apply a suggestion to ${fileName(anchor.path)}`)
      const keep_message = commitMessage(task, keepMessage)
      const result = await place.lines.applyLines({ ...request, message, keep_message }, { signal })
      if (result.kind === 'changed') return linesChanged(anchor)
      if (result.kind === 'in_the_way') return inTheWay(result.files)
      const diff_stat = await place.diffs.diffStat(ref, { signal })
      return context.feed.commit((tx) => {
        const comment = tx.comments.get(comment_id)
        const now = tx.tasks.get(task.id)
        if (!comment || !now) return notFound('comment')
        tx.saveTask({ ...now, diff_stat })
        if (found.workspace.status !== 'cleaned') saveWorkspace(tx, now, found.workspace)
        const applied = { at: tx.now(), by, commit: result.commit }
        return saveComment(tx, task, comment, { ...comment, applied, resolved_at: comment.resolved_at ?? applied.at })
      })
    })
  })
}

function check(
  { context, transitions }: Pick<StepServices, 'context' | 'transitions'>,
  comment_id: CommentId,
): Applicable | Refusal {
  const { read } = context.store
  const comment = read.comments.get(comment_id)
  const task = comment && read.tasks.get(comment.task_id)
  if (!comment || !task) return notFound('comment')
  const replacement = suggestionIn(comment.body)
  const { anchor, original, applied } = comment
  if (replacement === null || anchor === null || original === null) {
    return invalidInput('comment_id', 'This comment suggests nothing that can be applied.')
  }
  if (applied !== null) {
    return { code: 'work_changed', message: `This was applied already, in ${applied.commit.slice(0, 8)}.` }
  }
  if (task.archived) return { code: 'not_claimable', message: 'The task is archived. Unarchive it first.' }
  const found = checkBranchChange({ context, transitions }, task.id)
  if (isRefusal(found)) return found.code === 'workspace_locked' ? atWork : found
  return { ...found, anchor, original, replacement }
}

const atWork: Refusal = {
  code: 'workspace_locked',
  message: 'An agent works in this worktree now. Stop it, or wait until its run has ended, then apply the suggestion.',
}

function linesChanged({ path, line, start_line = line }: CommentAnchor): Refusal {
  const what = start_line === line ? `Line ${line} of ${path} has` : `Lines ${start_line} to ${line} of ${path} have`
  return {
    code: 'work_changed',
    message: `${what} changed since this was suggested. Make the change by hand, or suggest it again.`,
    details: { files: [path] },
  }
}

function inTheWay(files: readonly string[]): Refusal {
  return {
    code: 'work_changed',
    message: `The change would overwrite what is not committed: ${files.slice(0, 5).join(', ')}. Commit or move that, then try again.`,
    details: { files },
  }
}

const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
