import { inputOf } from '../../../src-shared/contract/executor-profiles.ts'
import { runFailures } from '../../../src-shared/contract/run-failures.ts'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import { formatSpan } from '../../formatters/format-amounts.ts'

export type OutcomeTone = 'run' | 'ok' | 'warn' | 'fail' | 'you' | 'quiet'
export interface ExecutionOutcome {
  readonly label: string
  readonly tone: OutcomeTone
}

/** Returns the status of an execution in one or two words. */
export function outcomeOf(execution: Execution): ExecutionOutcome {
  switch (execution.status) {
    case 'queued':
      return { label: 'Waiting', tone: 'quiet' }
    case 'running':
      return { label: 'Running', tone: 'run' }
    case 'succeeded':
      return { label: 'Finished', tone: 'ok' }
    case 'failed':
      return { label: execution.exit_code === null ? 'Failed' : `Failed, exit ${execution.exit_code}`, tone: 'fail' }
    case 'cancelled':
      return { label: 'Cancelled', tone: 'quiet' }
    case 'stopped':
      return { label: 'Stopped', tone: 'warn' }
    case 'lost':
      return { label: 'Lost', tone: 'fail' }
  }
}

export function isLive(execution: Execution | null | undefined): boolean {
  return execution?.status === 'running' || execution?.status === 'queued'
}

/** Returns the duration in milliseconds, up to `now` while it runs; null before it has started. */
export function workTime(execution: Execution, now: number): number | null {
  if (execution.started_at === null) return null
  const end = execution.finished_at === null ? now : Date.parse(execution.finished_at)
  return Math.max(0, end - Date.parse(execution.started_at))
}

/** Returns the outcome and the duration. `isSaid` omits the outcome if the screen already shows it. */
export function outcomeText(execution: Execution, isSaid: boolean): string {
  const time = workTime(execution, 0)
  const parts = [isSaid ? null : outcomeOf(execution).label, time === null ? null : formatSpan(time)]
  return parts.filter((part) => part !== null).join(', ')
}

/** Returns whether the execution is a queued message, which is shown with its editor. */
export function waitsToBeRead({ status, message }: Execution): boolean {
  return status === 'queued' && message !== undefined
}

/** Returns whether a message can be written and when it is read, or the reason why not. */
export function inputState(
  execution: Execution | null,
): { allowed: true; read: string } | { allowed: false; reason: string } {
  if (execution === null) return { allowed: false, reason: 'No run yet.' }
  if (execution.status === 'queued') return { allowed: false, reason: 'You can message it once it starts.' }
  if (execution.status !== 'running')
    return { allowed: false, reason: 'This run has ended. Start a new one to continue.' }
  const input = inputOf(execution.executor)
  if (input === null) return { allowed: false, reason: 'This agent can’t read messages during a run.' }
  return { allowed: true, read: input === 'next_step' ? 'Read at its next step' : 'Read at the end of its turn' }
}

export interface EndNotice {
  readonly tone: 'warn' | 'fail'
  readonly title: string
  readonly text: string
}

/** Returns the note below a transcript that ended without success; null if it has nothing to add. */
export function endNotice(execution: Execution): EndNotice | null {
  const { status, error, failure } = execution
  if (status !== 'failed' && status !== 'lost' && status !== 'stopped') return null
  if (failure === undefined && status === 'stopped')
    return { tone: 'warn', title: 'Stopped', text: error ?? 'Its work is kept in the worktree.' }
  const hasReason = failure !== undefined && failure !== 'failed'
  const known = hasReason ? failure : execution.started_at === null ? 'start_failed' : 'failed'
  const { sentence, advice } = runFailures[known]
  const detail = error === null || error === sentence ? '' : `${error}\n`
  return {
    tone: status === 'stopped' ? 'warn' : 'fail',
    title: sentence.replace(/\.$/, ''),
    text: `${detail}${advice}`,
  }
}
