import { failureSentences, type RunFailure } from './run-failure-sentences.ts'

/** Advice for each failure. */
const failureAdvice: { readonly [F in RunFailure]: string } = {
  not_signed_in: 'Sign in to it on this machine or renew its key, then resume.',
  usage_limit: 'Copse continues at the reset. Stop the run to end the wait.',
  no_credit: 'Add credit or use another account, then resume.',
  limit_reached: 'Raise the limit to continue.',
  turn_limit: 'Resume to continue.',
  context_full: 'Restart in a new session. The work so far is kept.',
  model_rejected: 'Change the model of the agent.',
  provider_down: 'Try again in a few minutes.',
  not_installed: 'Install it, or set its path in the agent.',
  not_configured: 'Edit the agent, then restart.',
  start_failed: 'Test the agent on the Agents page, then restart.',
  worktree: 'Open the Workspace tab to see what is wrong.',
  disk_full: 'Free some space, then resume.',
  timed_out: 'Resume, or raise the time limit in the settings.',
  stalled: 'Look at its last lines, then restart.',
  killed: 'Resume. If it happens again, check this machine’s memory.',
  lost: 'Resume, or assign another agent.',
  question: 'Answer it in a message.',
  nothing_done: 'Say what is missing in a message, or move the task on if nothing is.',
  failed: 'Look at its log, then restart.',
}

/** Why a run did not succeed and what to do about it; the only source of these texts. */
export const runFailures = Object.fromEntries(
  Object.entries(failureSentences).map(([code, sentence]) => [
    code,
    { sentence, advice: failureAdvice[code as RunFailure] },
  ]),
) as { readonly [F in RunFailure]: { readonly sentence: string; readonly advice: string } }
export const runFailureCodes = Object.keys(failureSentences) as [RunFailure, ...RunFailure[]]

/** Signals as exit codes of a shell: SIGHUP, SIGINT, SIGKILL, SIGTERM. */
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
    /\b401\b|not (?:logged|signed) in|no longer signed in|log ?in required|please (?:run \S+ )?log ?in|(?:invalid|incorrect) (?:x-)?api.?key|api key (?:is )?(?:not valid|invalid|expired)|authentication.?(?:error|failed|required)|\bunauthorized\b|\bunauthenticated\b/i,
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
  /** The error that the run was reported to have failed with. */
  readonly error: string | null
  readonly exit_code: number | null
}

/** Returns the failure class of an unsuccessful run; null for a successful one, or one that a person stopped. */
export function classifyRun({ status, error, exit_code }: RunEnding): RunFailure | null {
  if (status === 'lost') return 'lost'
  if (status !== 'failed' && status !== 'stopped') return null
  if (status === 'stopped') {
    if (error === null) return null
    if (error.startsWith('Reached the limit of ')) return 'limit_reached'
    return error.startsWith(failureSentences.turn_limit.slice(0, -1)) ? 'turn_limit' : null
  }
  const found = causes.find(([, words]) => words.test(error ?? ''))?.[0]
  if (found !== undefined) return found
  if (exit_code === notFoundCode) return 'not_installed'
  return signalCodes.includes(exit_code) ? 'killed' : 'failed'
}
