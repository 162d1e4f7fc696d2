import type { ExecutionStatus } from '../../../src-shared/contract/executions.ts'
import type { RunFailure } from '../../../src-shared/contract/run-failure-sentences.ts'
import { classifyRun, runFailures } from '../../../src-shared/contract/run-failures.ts'
import type { ErrorAnnotation } from '../../../src-shared/contract/tasks.ts'

import { limitAnnotation, type ReachedLimit } from './limits.ts'

export interface OutcomeFacts {
  readonly outcome: {
    readonly ended: 'exited' | 'stopped' | 'timed_out' | 'failed_to_start' | 'lost'
    readonly exit_code: number | null
    readonly conclusion: 'done' | 'talked' | 'question' | 'limit' | 'silent'
    readonly message: string | null
  }
  /** Why the run was stopped: for good, or because the task moved on. */
  readonly stopped: 'stopped' | 'cancelled' | null
  /** The limit that ended the run. */
  readonly limit?: ReachedLimit | null
  /** The provider has limited the account; the run continues at `retry_at`. */
  readonly usage_limit?: {
    readonly account: string
    readonly resets_at: string | null
    readonly retry_at: string
    readonly doubtful?: boolean
  } | null
  /** Seconds without activity after which the run was stopped. */
  readonly stalled?: number | null
  /** The run changed the worktree. */
  readonly changed: boolean
  /** The branch has no work, although the role should have done some. */
  readonly owes_work?: boolean
  readonly has_session: boolean
}

export interface InterpretedOutcome {
  readonly status: ExecutionStatus
  readonly error: string | null
  /** Set on the task while this role is still active. */
  readonly annotation: ErrorAnnotation | null
}

/** For unfinished work: continue in the agent's session, or in a new run without it. */
const stillToDo: ErrorAnnotation['recovery_actions'] = ['resume', 'retry_execution']

/** Returns what the end of an execution means: an agent that stops is not necessarily done. */
export function interpretOutcome(facts: OutcomeFacts): InterpretedOutcome {
  const end = interpret(facts)
  const { annotation, status, error } = end
  if (annotation === null || annotation.type === 'execution_paused') return end
  const known = failureOf(annotation)
  const failure = known ?? classifyRun({ status, error, exit_code: facts.outcome.exit_code })
  return failure === null
    ? end
    : { ...end, annotation: { ...annotation, failure, advice: runFailures[failure].advice } }
}

const typeFailures: Partial<Record<ErrorAnnotation['type'], RunFailure>> = {
  limit_reached: 'limit_reached',
  usage_limit: 'usage_limit',
}
const reasonFailures: Readonly<Record<string, RunFailure>> = {
  stalled: 'stalled',
  turn_limit: 'turn_limit',
  question: 'question',
  nothing_done: 'nothing_done',
}

const failureOf = ({ type, reason }: ErrorAnnotation): RunFailure | undefined =>
  typeFailures[type] ?? reasonFailures[reason ?? '']

function interpret(facts: OutcomeFacts): InterpretedOutcome {
  const { outcome } = facts
  const again: ErrorAnnotation['recovery_actions'] = facts.has_session ? stillToDo : ['retry_execution']
  if (facts.stopped === 'cancelled') return { status: 'cancelled', error: null, annotation: null }
  if (outcome.ended === 'lost') {
    const message =
      outcome.message ?? 'The machine that the agent ran on is out of contact. Its work is kept as far as it arrived.'
    const lost: ErrorAnnotation = {
      type: 'execution_lost',
      message,
      failure: 'lost',
      advice: runFailures.lost.advice,
      recovery_actions: [...again],
    }
    return { status: 'lost', error: message, annotation: lost }
  }
  if (facts.stopped === 'stopped') {
    const message = "Stopped. The agent's work is kept."
    return {
      status: 'stopped',
      error: null,
      annotation: { type: 'execution_paused', message, recovery_actions: stillToDo },
    }
  }
  if (facts.limit && outcome.ended === 'stopped') {
    const annotation = limitAnnotation(facts.limit)
    return { status: 'stopped', error: annotation.message, annotation }
  }
  if (facts.stalled != null && outcome.ended === 'stopped') {
    const end = failed(`No sign of the agent for ${facts.stalled} s.`, outcome.exit_code, again)
    return end.annotation === null ? end : { ...end, annotation: { ...end.annotation, reason: 'stalled' } }
  }
  if (outcome.ended === 'timed_out')
    return failed(outcome.message ?? 'The run reached its time limit.', outcome.exit_code, again)
  if (outcome.ended === 'failed_to_start')
    return failed(outcome.message ?? "The agent couldn't start.", null, ['retry_execution'])
  if (outcome.ended === 'stopped') return failed('The agent was killed from outside Copse.', outcome.exit_code, again)
  if (facts.usage_limit) {
    const end = failed(outcome.message ?? 'The usage limit of its account is reached.', outcome.exit_code, again)
    const { message } = end.annotation ?? { message: '' }
    const { doubtful = false, ...limit } = facts.usage_limit
    const told = { ...limit, ...(doubtful && { doubtful }) }
    return { ...end, annotation: { type: 'usage_limit', message, recovery_actions: [], ...told } }
  }
  if (classifyRun({ status: 'failed', error: null, exit_code: outcome.exit_code }) === 'killed') {
    // Any other message is output from before the kill, not its reason.
    const isTold = outcome.message?.startsWith('The agent was ended by ') === true
    return failed(isTold ? (outcome.message ?? '') : killedText(outcome.exit_code), outcome.exit_code, again)
  }
  if (outcome.exit_code !== 0) {
    const code = outcome.exit_code === null ? 'a signal' : `exit code ${outcome.exit_code}`
    const end = failed(outcome.message ?? `The agent failed with ${code}.`, outcome.exit_code, again)
    const isTurnLimit = outcome.conclusion === 'limit' && end.annotation !== null
    return isTurnLimit ? { ...end, annotation: { ...end.annotation, reason: 'turn_limit' } } : end
  }
  if (outcome.conclusion === 'question') return incomplete('question', outcome.message ?? 'The agent has a question.')
  if (outcome.conclusion === 'limit')
    return incomplete('turn_limit', outcome.message ?? 'The agent reached a limit of its own for one turn.')
  if (outcome.conclusion === 'silent' && !facts.changed) {
    return incomplete('nothing_done', 'The agent ended without output or changes.')
  }
  if (outcome.conclusion === 'talked' && !facts.changed && facts.owes_work === true)
    return incomplete('nothing_done', outcome.message ?? 'The agent ended without changes.')
  return { status: 'succeeded', error: null, annotation: null }
}

const killedText = (code: number | null): string =>
  `The agent was killed from outside Copse (exit ${code ?? 'unknown'}).`

function failed(
  message: string,
  exit_code: number | null,
  recovery_actions: ErrorAnnotation['recovery_actions'],
): InterpretedOutcome {
  return {
    status: 'failed',
    error: message,
    annotation: { type: 'execution_failed', message, exit_code, recovery_actions },
  }
}

function incomplete(reason: string, message: string): InterpretedOutcome {
  return {
    status: 'stopped',
    error: message,
    annotation: { type: 'execution_incomplete', reason, message, recovery_actions: stillToDo },
  }
}
