import { limitAmount, raisedTo } from '../../src-shared/contract/limit-names.ts'
import type { ErrorAnnotation, RecoveryAction } from '../../src-shared/contract/tasks.ts'

/** Labels of the buttons that resolve a task's condition. */
export const recoveryLabels = {
  retry_hook: 'Retry hook',
  skip_hook_once: 'Skip once…',
  resume: 'Resume',
  retry_execution: 'Restart',
  raise_limit: 'Raise the limit and resume',
  retry_merge: 'Retry merge',
  absorb_nested: 'Take its files',
  ignore_nested: 'Leave it out',
  take_work: 'Take the work',
  leave_work: 'Leave it out',
  allow_start: 'Start anyway',
  finish: 'Finish without it',
  new_pull_request: 'Open a new one',
  reopen_pull_request: 'Reopen',
  fix_again: 'Fix again',
  take_theirs: 'Take theirs',
  keep_ours: 'Keep yours',
} as const satisfies Record<RecoveryAction, string>

/** Returns the label of a recovery button. Raising a limit names the new amount. */
export function recoveryLabel(action: RecoveryAction, { limit, allowed, spent }: ErrorAnnotation): string {
  if (action !== 'raise_limit' || limit === undefined || allowed === undefined) return recoveryLabels[action]
  return `Raise to ${limitAmount(limit, raisedTo(allowed, spent ?? allowed))} and resume`
}
