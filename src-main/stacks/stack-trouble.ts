import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { lowerTask } from '../core/stack-of.ts'
import { refOf } from '../core/views.ts'
import { isRefusal } from '../domain/refusal.ts'
import { count } from '../workspaces/rules/conflict-text.ts'
import { stackConflictPrompt } from './rules/stack-text.ts'
import type { RestackResult } from '../ports/branch-updater.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { toConflictHunks } from '../workspaces/to-conflict-hunks.ts'
import { onBase, patchStack, type BroughtBranch, type StackDeps, type StackedBranch } from './stack-facts.ts'

type Mark = NonNullable<ErrorAnnotation['stack']>

const stackNote = (stack: Mark, message: string): ErrorAnnotation => ({
  type: 'workspace_error',
  message,
  stack,
  recovery_actions: [],
})

/** Returns the task without the annotation that says why its branch could not be brought along. */
export function withoutTrouble(task: TaskRecord): TaskRecord {
  return task.error_annotation?.stack === 'not_moved' ? { ...task, error_annotation: null } : task
}

/** Says on the task that the one below it, which has not landed, is put away, until that has changed. */
export function noteArchivedBelow({ context, transitions }: StackDeps, id: TaskId): void {
  /** The task as it should be; null when it is so already. */
  const noted = (q: Queries): TaskRecord | null => {
    const task = q.tasks.get(id)
    if (!task) return null
    const isTold = task.error_annotation?.stack === 'archived_below'
    const workflow = transitions.workflowOf(q, task)
    const lower = lowerTask(q, workflow, task)
    const isOver = task.archived || workflow.states.get(task.status)?.kind === 'terminal'
    if (isOver || lower?.task.archived !== true) return isTold ? { ...task, error_annotation: null } : null
    if (task.error_annotation !== null || task.active_execution_id !== null) return null
    const message = `${lower.ref}, which this task is stacked on, was archived before it landed, so this one can't land. Unarchive it, or take this task off the stack.`
    return { ...task, error_annotation: stackNote('archived_below', message) }
  }
  if (!noted(context.store.read)) return
  context.feed.commit((tx) => {
    const task = noted(tx)
    if (task) tx.saveTask(task)
  })
}

/** Says on the task why its branch can't be moved; it is tried again. */
export function noteTrouble({ context }: StackDeps, { task: { id }, workspace }: StackedBranch, why: string): void {
  const trouble = `${workspace.branch} could not be brought along with the tasks below it. ${why}`
  context.feed.commit((tx) => {
    const task = tx.tasks.get(id)
    const known = tx.workspaces.byTask(id)
    if (!task || !known || known.stack?.trouble === trouble) return
    const free = withoutTrouble(task)
    tx.workspaces.put({ ...known, stack: { ...(known.stack ?? onBase(known.base_branch)), moving: null, trouble } })
    if (free.error_annotation !== null) return
    tx.saveTask({ ...free, error_annotation: stackNote('not_moved', trouble) })
  })
}

/** Refusals that end without a change to the task, or when a person resumes what is paused. */
const passing: readonly string[] = [
  'agent_paused',
  'project_paused',
  'entry_barrier',
  'already_claimed',
  'workspace_locked',
  'version_conflict',
]

/** Gives a conflict to the coder, once for each commit; after that, to a person. */
export async function tellConflict(
  deps: StackDeps,
  { task, workspace, lower, place }: BroughtBranch,
  { onto, lies_on, files, hunks }: Extract<RestackResult, { kind: 'conflict' }>,
  signal: AbortSignal,
): Promise<void> {
  const { context } = deps
  const known = context.store.read.workspaces.byTask(task.id)?.stack?.conflict ?? null
  const told = known?.onto === onto ? known.told : 'nobody'
  const save = (to: 'nobody' | 'coder' | 'person') => {
    patchStack(context, task.id, { conflict: { onto, files, told: to }, moving: null })
  }
  if (told === 'nobody') {
    // Saved before it is sent: a second message would restart the coder.
    save('coder')
    const other = lower ?? lastBelow(context.store.read, task, workspace)
    const message = stackConflictPrompt({
      branch: workspace.branch,
      onto_branch: place.onto_branch,
      onto,
      lies_on,
      lower: other && { ref: other.ref, title: other.task.title, is_below: lower !== null },
      files,
      hunks: toConflictHunks(context, task, hunks, 'in_prompt'),
    })
    const by = { type: 'operator' } as const
    const request = { task_id: task.id, by, triggered_by: 'system', comment_ids: [], message }
    const sent = await deps.actions.feedback(request, signal)
    if (!isRefusal(sent)) return
    if (passing.includes(sent.code)) {
      save('nobody')
      return
    }
  }
  if (told === 'person') return
  const what = `${workspace.branch} can't be laid on ${place.onto_branch} (${onto.slice(0, 12)}): ${count(files)}.`
  const message = `${what} Run "git rebase --onto ${onto.slice(0, 12)} ${lies_on.slice(0, 12)}" in its worktree and resolve it there, or take the task off the stack.`
  context.feed.commit((tx) => {
    const now = tx.tasks.get(task.id)
    if (!now || (now.error_annotation !== null && now.error_annotation.type !== 'merge_conflict')) return
    const annotation: ErrorAnnotation = {
      type: 'merge_conflict',
      message,
      stack: 'not_moved',
      files: [...files],
      hunks: toConflictHunks(context, now, hunks),
      recovery_actions: [],
    }
    tx.saveTask({ ...now, error_annotation: annotation })
    const record = tx.workspaces.byTask(task.id)
    if (!record) return
    const conflict = { onto, files, told: 'person' as const }
    const stack = record.stack ?? onBase(record.base_branch)
    tx.workspaces.put({ ...record, stack: { ...stack, conflict, trouble: message, moving: null } })
  })
}

/** Returns the task on whose branch another lay until it landed or was given up. */
function lastBelow(q: Queries, { stacked_on }: TaskRecord, { stack }: WorkspaceRecord) {
  const id = stack?.on ?? stacked_on
  const task = id === null ? null : q.tasks.get(id)
  return task && { task, ref: refOf(q, task) }
}
