import type { RecoveryAction } from '../../src-shared/contract/tasks.ts'

/** What the buttons say that lead a task out of its condition. */
export const recoveryLabels = {
  retry_hook: 'Retry hook',
  skip_hook_once: 'Skip once…',
  resume: 'Resume',
  retry_execution: 'Restart',
  retry_merge: 'Retry merge',
  absorb_nested: 'Take its files',
  ignore_nested: 'Leave it out',
} as const satisfies Record<RecoveryAction, string>
