import { baseConflictText } from '../../src-shared/contract/base-conflict-text.ts'
import type { PullRequest } from '../../src-shared/contract/pull-requests.ts'
import type { ErrorAnnotation, Task } from '../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import { escapeHidden } from '../../src-shared/lang/hidden-characters.ts'
import { failureText } from '../formatters/failure-text.ts'
import { pullRequestLine } from './pull-request-text.ts'

/** The one thing that a task waits for, the same on card, list, inbox, panel and notification. */
export interface TaskLine {
  readonly kind: 'asks' | 'conflict' | 'check' | 'empty' | 'elsewhere' | 'waits' | 'pull_request' | 'trouble'
  readonly text: string
  /** The full text if `text` is shortened. */
  readonly full?: string
  /** `fail` only where it blocks; work that changes nothing is never `ok`. */
  readonly tone: 'you' | 'fail' | 'warn' | 'ok' | 'neutral'
  readonly glyph: 'failed' | 'merge-failed' | 'barrier' | 'gate' | 'gate-waiting' | 'clock' | 'timed-out' | null
  /** Whether a person must act. */
  readonly needsYou: boolean
}

export interface PullRequestLineFacts {
  /** Whether the state waits for the forge to merge it. */
  readonly awaited: boolean
  /** The loaded one; null while it isn't. */
  readonly known: PullRequest | null
  /** The name of its forge. */
  readonly forge: string
}

export interface TaskLineFacts {
  readonly task: Task
  readonly state: WorkflowState | undefined
  /** The name of the branch that its work is merged into. */
  readonly base: string
  /** The open request of the agent. */
  readonly asks: string | null
  readonly pullRequest?: PullRequestLineFacts
  /** Returns the names of all approvers; called only if approved work waits. */
  readonly approvers?: () => readonly string[]
}

/** The sentence for a plan at its gate. */
export const planText = 'Waiting for your approval'

export const checkFailedText = (command: string): string => `Check failed: ${command}`

/** Describes the checks and the approvers. The column says already that no one has reviewed it. */
export function checkedText(checks: number, approvers: readonly string[]): string {
  const checked = checks === 0 ? 'Nothing checked' : 'Checks passed'
  return approvers.length === 0 ? checked : `${checked}. ${approvers.join(' and ')} approved it.`
}

/** Describes work that changes nothing. Names the ignored files that its runs wrote instead. */
export function emptyText(ignored: readonly string[] = []): string {
  if (ignored.length === 0) return 'No changes'
  const named = ignored.slice(0, 3).map(escapeHidden).join(', ')
  const others = ignored.length > 3 ? ` and ${ignored.length - 3} more` : ''
  return `No changes. Git ignores what was written: ${named}${others}`
}

/** Returns what blocks a task or what it waits for; null if neither. The first that is true is said: see the order. */
export function taskLine(facts: TaskLineFacts): TaskLine | null {
  const { task, state, asks } = facts
  if (asks !== null) return { kind: 'asks', glyph: 'gate', tone: 'you', text: asks, needsYou: true }
  if (state?.kind === 'terminal') return task.error_annotation ? annotationLine(task, task.error_annotation) : null
  const annotation = task.error_annotation
  if (mayMergeNext(facts) && task.base_conflict !== null) return conflictLine(facts, task.base_conflict.files)
  const gate = decidesHere(facts) && state ? gateLine(facts, state) : null
  if (gate?.kind === 'check' || gate?.kind === 'empty') return annotation ? withElsewhere(task, annotation, gate) : gate
  if (annotation) return annotationLine(task, annotation)
  return gate ?? pullLine(facts)
}

/** The gate that waits for the forge has no decision here but that about its pull request. */
const decidesHere = ({ task, state, pullRequest }: TaskLineFacts): boolean =>
  state?.kind === 'gate' && task.active_execution_id === null && pullRequest?.awaited !== true

/** Elsewhere than at its gate it asks nothing of anyone, so that it is only told. */
function pullLine({ task, pullRequest }: TaskLineFacts): TaskLine | null {
  const { awaited, known, forge } = pullRequest ?? { awaited: false, known: null, forge: '' }
  if (task.active_execution_id !== null) return null
  if (task.pull_request === null) return awaited ? { ...waits('No pull request yet'), kind: 'pull_request' } : null
  const { text, tone, needsYou } = pullRequestLine(task.pull_request, known, forge)
  const quiet = tone === 'run' || (!awaited && tone === 'you') ? 'neutral' : tone
  return { kind: 'pull_request', glyph: pullGlyphs[quiet], tone: quiet, text, needsYou: needsYou && awaited }
}

const pullGlyphs: Readonly<Record<TaskLine['tone'], TaskLine['glyph']>> = {
  fail: 'failed',
  warn: 'clock',
  you: 'gate',
  ok: 'gate',
  neutral: 'gate-waiting',
}

/** Whether the task waits for its merge, so that a conflict blocks it. A gate without a review judges a plan. */
function mayMergeNext({ task, state }: TaskLineFacts): boolean {
  if (task.error_annotation?.type === 'merge_conflict') return true
  return state?.kind === 'gate' && (state.hooks?.before_enter ?? []).length > 0
}

function conflictLine({ base }: TaskLineFacts, files: readonly string[]): TaskLine {
  const full = `Conflicts with ${base} in ${files.map(escapeHidden).join(', ')}`
  const text = baseConflictText(base, files)
  return { kind: 'conflict', glyph: 'merge-failed', tone: 'fail', text, full, needsYou: true }
}

const elsewhere: ReadonlySet<ErrorAnnotation['type']> = new Set([
  ...(['work_elsewhere', 'nested_repository', 'submodule_not_pushed'] as const),
])

/** An empty branch is no news where its work lies elsewhere; a failed check says more than the hook that ran it. */
function withElsewhere(task: Task, annotation: ErrorAnnotation, gate: TaskLine): TaskLine {
  if (gate.kind === 'empty') return annotationLine(task, annotation)
  return annotation.type === 'hook_failed' || elsewhere.has(annotation.type)
    ? { ...gate, full: annotation.message }
    : annotationLine(task, annotation)
}

const glyphOfAnnotation: Readonly<Record<ErrorAnnotation['type'], TaskLine['glyph']>> = {
  hook_failed: 'failed',
  execution_failed: 'failed',
  execution_lost: 'timed-out',
  execution_paused: 'clock',
  execution_incomplete: 'gate',
  limit_reached: 'gate',
  usage_limit: 'clock',
  // The state of these reasons already shows the glyph in its label.
  merge_conflict: null,
  retry_budget_exhausted: null,
  workspace_error: 'failed',
  workspace_reset_required: 'failed',
  nested_repository: 'gate',
  submodule_not_pushed: 'gate',
  work_elsewhere: 'gate',
  dependency_failed: 'gate',
  needs_person: 'gate',
  pull_request_closed: 'gate',
  pull_request_merged: 'gate',
  pull_request_diverged: 'gate',
}

const toneOfGlyph = { failed: 'fail', 'timed-out': 'fail', barrier: 'warn', clock: 'warn', gate: 'you' } as const

function annotationLine(task: Task, annotation: ErrorAnnotation): TaskLine {
  const usual = glyphOfAnnotation[annotation.type]
  const glyph = task.entry_barrier && annotation.type === 'hook_failed' ? 'barrier' : usual
  const failing = annotation.type === 'hook_failed' ? failedCheck(task) : null
  return {
    kind: failing !== null ? 'check' : elsewhere.has(annotation.type) ? 'elsewhere' : 'trouble',
    glyph,
    tone:
      glyph === null ? 'neutral' : ((toneOfGlyph as Readonly<Record<string, TaskLine['tone']>>)[glyph] ?? 'neutral'),
    text: failing ?? failureText(annotation),
    full: annotation.message,
    needsYou: true,
  }
}

function gateLine({ task, approvers = () => [] }: TaskLineFacts, state: WorkflowState): TaskLine | null {
  const review = task.review_summary
  // A gate with hooks in before_enter has a review row per attempt; a gate without approves a plan.
  if ((state.hooks?.before_enter ?? []).length === 0) return waits(planText)
  if (task.entry_barrier) return null
  const looked = (): TaskLine =>
    review?.empty === true
      ? { kind: 'empty', glyph: 'gate-waiting', tone: 'neutral', text: emptyText(), needsYou: true }
      : waits(checkedText(review?.steps.length ?? 0, approvers()), 'ok')
  if (review?.status === 'running' || review?.status === 'pending') {
    // After its checks pass, a review stays open for the reviewer, or for a person who must see its
    // notes.
    const isGreen = review.steps.every((step) => step === 'passed')
    const reviewer = state.role === undefined ? undefined : task.roles[state.role]
    const asksAgent = reviewer?.type === 'agent' && (review.approved_by ?? []).length === 0
    const isForPerson = state.gate_config?.requires_human_approval === true || !asksAgent
    return isGreen && isForPerson ? looked() : null
  }
  if (review?.status === 'failed') {
    const text = failedCheck(task) ?? `Attempt ${review.attempt_number} failed`
    return { kind: 'check', glyph: 'failed', tone: 'fail', text, needsYou: true }
  }
  return review?.status === 'passed' ? looked() : waits(planText)
}

const waits = (text: string, tone: TaskLine['tone'] = 'you'): TaskLine => ({
  kind: 'waits',
  glyph: 'gate',
  tone,
  text,
  needsYou: true,
})

/** Returns the name of the failed check; null if none failed or the checks have changed since. */
function failedCheck(task: Task): string | null {
  const step = task.review_config.ci_steps[task.review_summary?.steps.indexOf('failed') ?? -1]
  return step === undefined ? null : checkFailedText(step)
}
