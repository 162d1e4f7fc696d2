/** Why a run did not succeed, in a sentence, and what to do about it. The only place that says so. */
export const runFailures = {
  not_signed_in: {
    sentence: 'The agent isn’t signed in.',
    advice: 'Sign in to it on this machine or renew its key, then resume.',
  },
  usage_limit: {
    sentence: 'Its provider’s usage limit is reached.',
    advice: 'Copse continues at the reset. Stop the run to end the wait.',
  },
  no_credit: { sentence: 'Its account has no credit left.', advice: 'Add credit or use another account, then resume.' },
  limit_reached: { sentence: 'A limit of this project is reached.', advice: 'Raise the limit to continue.' },
  turn_limit: { sentence: 'The agent reached its own limit for one turn.', advice: 'Resume to continue.' },
  context_full: {
    sentence: 'The session is longer than the model can read.',
    advice: 'Restart in a new session. The work so far is kept.',
  },
  model_rejected: { sentence: 'The provider doesn’t offer this model.', advice: 'Change the model of the agent.' },
  provider_down: { sentence: 'The provider didn’t answer.', advice: 'Resume in a few minutes.' },
  not_installed: { sentence: 'The agent’s program wasn’t found.', advice: 'Install it, or set its path in the agent.' },
  not_configured: { sentence: 'The agent’s settings aren’t complete.', advice: 'Edit the agent, then restart.' },
  start_failed: { sentence: 'The agent couldn’t start.', advice: 'Test the agent on the Agents page, then restart.' },
  worktree: { sentence: 'The worktree isn’t ready.', advice: 'Open the Workspace tab to see what is wrong.' },
  disk_full: { sentence: 'The disk is full.', advice: 'Free some space, then resume.' },
  timed_out: {
    sentence: 'The run reached its time limit.',
    advice: 'Resume, or raise the time limit in the settings.',
  },
  stalled: { sentence: 'The agent gave no sign of work.', advice: 'Look at its last lines, then restart.' },
  killed: {
    sentence: 'The agent was ended from outside Copse.',
    advice: 'Resume. If it happens again, check this machine’s memory.',
  },
  lost: { sentence: 'Copse lost contact with the agent.', advice: 'Resume, or assign another agent.' },
  question: { sentence: 'The agent has a question.', advice: 'Answer it in a message.' },
  nothing_done: {
    sentence: 'The agent changed nothing.',
    advice: 'Say what is missing in a message, or move the task on if nothing is.',
  },
  failed: { sentence: 'The agent failed.', advice: 'Look at its log, then restart.' },
} as const satisfies Readonly<Record<string, { readonly sentence: string; readonly advice: string }>>
export type RunFailure = keyof typeof runFailures
export const runFailureCodes = Object.keys(runFailures) as [RunFailure, ...RunFailure[]]

/** Signals as shells tell them in an exit code: hang-up, interrupt, kill, end. */
const signalCodes: readonly (number | null)[] = [129, 130, 137, 143]
const notFoundCode = 127

const causes: readonly (readonly [RunFailure, RegExp])[] = [
  ['timed_out', /^Stopped at the time limit|^The run reached its time limit/],
  ['stalled', /^No sign of the agent for /],
  ['killed', /^The agent was (?:killed from outside|ended by SIG(?:KILL|TERM|INT|HUP))\b/],
  ['limit_reached', /^Reached the limit of /],
  ['not_configured', /^The agent has no command|^An external agent runs elsewhere/],
  ['not_installed', /command was not found|\bwas not found\. Install|was not found at .* configured command/],
  ['worktree', /^(?:Another run is using this worktree|The worktree|The branch|The workspace)\b/],
  ['disk_full', /\bENOSPC\b|\bno space left on device\b|disk is full/i],
  ['start_failed', /could(?:n't| not) (?:be )?start(?:ed)?\b|did not start/],
  [
    'no_credit',
    /credit balance|insufficient (?:funds|credits?|balance)|insufficient_quota|payment required|\bbilling\b/i,
  ],
  [
    'not_signed_in',
    /\b401\b|not (?:logged|signed) in|no longer signed in|log ?in required|please (?:run \S+ )?log ?in|invalid (?:x-)?api.?key|authentication.?(?:error|failed)|\bunauthorized\b/i,
  ],
  ['usage_limit', /\busage limit\b|\brate.?limit|\bquota\b|\b429\b|hit your (?:\w+ )*limit/i],
  ['context_full', /prompt is too long|context.?(?:length|window)|maximum context|context_length_exceeded/i],
  [
    'model_rejected',
    /model\S* .*(?:not found|does ?n.t exist|not exist|not supported|not available)|unknown model|invalid model|model_not_found/i,
  ],
  [
    'provider_down',
    /overloaded|API Error: 5\d\d|\b50[0234]\b|\b529\b|ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|fetch failed|connection (?:error|refused|reset)|service unavailable|internal server error|stream disconnected|request timed out/i,
  ],
]

export interface RunEnding {
  readonly status: string
  /** What it was told to have failed with. */
  readonly error: string | null
  readonly exit_code: number | null
}

/** Returns the class of a run that has not succeeded; null for one that has, or that a person has stopped. */
export function classifyRun({ status, error, exit_code }: RunEnding): RunFailure | null {
  if (status === 'lost') return 'lost'
  if (status !== 'failed' && status !== 'stopped') return null
  if (status === 'stopped') {
    if (error === null) return null
    if (error.startsWith('Reached the limit of ')) return 'limit_reached'
    return error.startsWith(runFailures.turn_limit.sentence.slice(0, -1)) ? 'turn_limit' : null
  }
  const found = causes.find(([, words]) => words.test(error ?? ''))?.[0]
  if (found !== undefined) return found
  if (exit_code === notFoundCode) return 'not_installed'
  return signalCodes.includes(exit_code) ? 'killed' : 'failed'
}
