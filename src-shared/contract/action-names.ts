/** Recovery actions that are about a pull request. */
const pullRequestRecoveries = [
  'finish',
  'new_pull_request',
  'reopen_pull_request',
  'fix_again',
  'take_theirs',
  'keep_ours',
] as const
export type PullRequestRecovery = (typeof pullRequestRecoveries)[number]

export const isPullRequestRecovery = (action: string): action is PullRequestRecovery =>
  (pullRequestRecoveries as readonly string[]).includes(action)

/** Recovery actions for a task that needs a person. Without schemas, because every command of `svc` loads these. */
export const recoveryActions = [
  'retry_hook',
  'skip_hook_once',
  'resume',
  'retry_execution',
  'raise_limit',
  'retry_merge',
  'absorb_nested',
  'ignore_nested',
  'take_work',
  'leave_work',
  'allow_start',
  ...pullRequestRecoveries,
] as const

/** Moves of a queued run within its queue. */
export const queueMoves = ['first', 'up', 'down', 'last'] as const
