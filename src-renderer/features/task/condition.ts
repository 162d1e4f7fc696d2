import { endCause } from '../../formatters/failure-text.ts'
import { timeOfDay } from '../../formatters/time-of-day.ts'
import { failureSentences } from '../../../src-shared/contract/run-failure-sentences.ts'
import type { Review } from '../../../src-shared/contract/reviews.ts'
import type { ErrorAnnotation, RecoveryAction } from '../../../src-shared/contract/tasks.ts'

const titles = {
  hook_failed: 'A hook failed',
  execution_paused: 'Stopped',
  execution_failed: 'The agent failed',
  execution_incomplete: 'The agent didn’t finish',
  execution_lost: 'Lost contact with the agent',
  limit_reached: 'Stopped at a limit',
  usage_limit: 'Waiting for the usage limit to reset',
  merge_conflict: 'Merge conflict',
  retry_budget_exhausted: 'Review limit reached',
  workspace_error: 'Worktree problem',
  workspace_reset_required: 'Worktree and branch are missing',
  nested_repository: 'The worktree holds another repository',
  submodule_not_pushed: 'A submodule is not pushed',
  work_elsewhere: 'Work outside the task’s branch',
  dependency_failed: 'A task it depends on was cancelled or deleted',
  needs_person: 'Its start needs your word',
  pull_request_closed: 'Its pull request was closed',
  pull_request_merged: 'Merged without the newest work',
  pull_request_diverged: 'Others pushed something else',
} as const satisfies Record<ErrorAnnotation['type'], string>

const stackTitles = {
  not_moved: 'Can’t follow the task below it',
  archived_below: 'The task below it is archived',
} as const satisfies Record<NonNullable<ErrorAnnotation['stack']>, string>

/** The tab with details and the label of its link. */
export interface PlaceToLook {
  readonly tab: 'agent' | 'workspace' | 'review' | 'pull_request' | 'hooks'
  readonly label: string
}

/** Returns the tab that shows the condition with its actions, so that no note repeats it there. */
export function paneOfCondition(type: ErrorAnnotation['type'] | undefined): string | null {
  if (type === 'merge_conflict') return 'review'
  return type === 'hook_failed' ? 'hooks' : null
}

const places: Partial<Record<ErrorAnnotation['type'], PlaceToLook>> = {
  execution_failed: { tab: 'agent', label: 'Show log' },
  execution_incomplete: { tab: 'agent', label: 'Show log' },
  execution_lost: { tab: 'agent', label: 'Show log' },
  workspace_reset_required: { tab: 'workspace', label: 'Open Workspace' },
  merge_conflict: { tab: 'review', label: 'Show conflict' },
  retry_budget_exhausted: { tab: 'review', label: 'Show attempts' },
  hook_failed: { tab: 'hooks', label: 'Show log' },
  pull_request_closed: { tab: 'pull_request', label: 'Show pull request' },
  pull_request_merged: { tab: 'pull_request', label: 'Show pull request' },
  pull_request_diverged: { tab: 'pull_request', label: 'Show pull request' },
}

export interface Condition {
  readonly tone: 'neutral' | 'warn' | 'fail' | 'you'
  readonly title: string
  /** Details that the title doesn't have. */
  readonly text: string | null
  /** The recommended action. */
  readonly advice?: string | undefined
  readonly place: PlaceToLook | null
}

interface ConditionFacts {
  readonly annotation: ErrorAnnotation
  /** The name of the agent that ran. */
  readonly agent: string
  /** The newest attempt. */
  readonly review: Review | undefined
}

/** Conditions that are no failure, but need a decision by a person. */
const waiting: ReadonlySet<ErrorAnnotation['type']> = new Set([
  ...(['execution_incomplete', 'limit_reached', 'usage_limit'] as const),
  ...(['nested_repository', 'submodule_not_pushed', 'work_elsewhere', 'dependency_failed'] as const),
  ...(['pull_request_closed', 'pull_request_merged', 'pull_request_diverged'] as const),
])

/** Returns the note about the task's condition. */
export function conditionOf(facts: ConditionFacts): Condition {
  const { annotation } = facts
  const retry = annotation.type === 'execution_failed' && annotation.retry_at !== undefined
  const advice = retry ? `Tried again at ${timeOfDay(annotation.retry_at ?? '')}.` : annotation.advice
  const condition = plainConditionOf(facts)
  return advice === undefined || isStopped(annotation) || annotation.type === 'usage_limit'
    ? condition
    : { ...condition, advice }
}

function plainConditionOf({ annotation, agent, review }: ConditionFacts): Condition {
  const place = places[annotation.type] ?? null
  if (annotation.recovery_actions.includes('fix_again')) {
    const pull = { tab: 'pull_request', label: 'Show pull request' } as const
    return { tone: 'warn', title: 'Copse stopped fixing the pull request', text: annotation.message, place: pull }
  }
  if (isStopped(annotation))
    return { tone: 'neutral', title: 'Stopped. Your agent’s work is kept.', text: null, place: null }
  if (annotation.type === 'execution_failed' && annotation.failure !== undefined && annotation.failure !== 'failed') {
    const sentence = failureSentences[annotation.failure]
    const text = annotation.message === sentence ? null : annotation.message
    return { tone: 'fail', title: sentence, text, place }
  }
  if (annotation.type === 'execution_failed')
    return { tone: 'fail', title: failureSentence(annotation.message, agent, review), text: null, place }
  if (annotation.type === 'usage_limit' && annotation.retry_at !== undefined) {
    const verb = annotation.doubtful === true ? 'Tried again' : 'Continues'
    const title = `Usage limit. ${verb} at ${timeOfDay(annotation.retry_at)}.`
    const doubt =
      annotation.doubtful === true && annotation.resets_at != null
        ? ` The named reset (${timeOfDay(annotation.resets_at)}) is doubtful: it is later than this limit lasts.`
        : ''
    return { tone: 'warn', title, text: `${annotation.message}${doubt}`, place }
  }
  const asks = annotation.type === 'execution_incomplete' && annotation.reason === 'question'
  const isIdle = annotation.type === 'execution_incomplete' && annotation.reason === 'nothing_done'
  const { type, stack } = annotation
  const usual = type === 'workspace_error' && stack !== undefined ? stackTitles[stack] : titles[type]
  const title = asks ? 'The agent has a question' : isIdle ? 'The agent changed nothing' : usual
  const message = annotation.message.replace(/\.$/, '')
  return {
    tone: asks ? 'you' : waiting.has(annotation.type) ? 'warn' : 'fail',
    title,
    text: message === title ? null : annotation.message,
    place,
  }
}

/** Returns whether a person has stopped the run. */
export const isStopped = (annotation: ErrorAnnotation | null | undefined): boolean =>
  annotation?.type === 'execution_paused'

/** Returns whether the run ended early, so that the note has all actions to continue. */
export const hasEndedEarly = (annotation: ErrorAnnotation | null | undefined): boolean =>
  annotation?.recovery_actions.some((action) => startsAgain.has(action)) === true

const startsAgain: ReadonlySet<RecoveryAction> = new Set(['resume', 'retry_execution'])

/**
 * Returns one sentence about the agent's failure and the failed check before it: `npm test` failed,
 * then Worker failed: …
 */
function failureSentence(message: string, agent: string, review: Review | undefined): string {
  const command = review?.status === 'failed' ? failedCommand(review) : undefined
  const cause = endCause(message) ?? message.replace(/^(It|The) /, (word) => word.toLowerCase())
  const own = `${agent} failed: ${cause.replace(/\.$/, '')}.`
  return command === undefined ? own : `\`${command}\` failed, then ${own}`
}

const failedCommand = ({ step_results, ci_steps }: Review): string | undefined =>
  ci_steps[step_results.findIndex(({ exit_code }) => exit_code !== null && exit_code !== 0)]
