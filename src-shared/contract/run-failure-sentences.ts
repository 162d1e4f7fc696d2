/** Why a run did not succeed, in a sentence. Separate from the advice, which the board's first page does not need. */
export const failureSentences = {
  not_signed_in: 'The agent isn’t signed in.',
  usage_limit: 'Its provider’s usage limit is reached.',
  no_credit: 'Its account has no credit left.',
  limit_reached: 'A limit of this project is reached.',
  turn_limit: 'The agent reached its own limit for one turn.',
  context_full: 'The session is longer than the model can read.',
  model_rejected: 'The provider doesn’t offer this model.',
  provider_down: 'The provider didn’t answer.',
  not_installed: 'The agent’s program wasn’t found.',
  not_configured: 'The agent’s settings aren’t complete.',
  start_failed: 'The agent couldn’t start.',
  worktree: 'The worktree isn’t ready.',
  disk_full: 'The disk is full.',
  timed_out: 'The run reached its time limit.',
  stalled: 'The agent gave no sign of work.',
  killed: 'The agent was ended from outside Copse.',
  lost: 'Copse lost contact with the agent.',
  question: 'The agent has a question.',
  nothing_done: 'The agent changed nothing.',
  failed: 'The agent failed.',
} as const
export type RunFailure = keyof typeof failureSentences
