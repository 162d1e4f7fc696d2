import type {
  PullRequest,
  PullRequestCheck,
  PullRequestRef,
  PullRequestThread,
  PullRequestWait,
} from '../../src-shared/contract/pull-requests.ts'
import { escapeHidden } from '../../src-shared/lang/hidden-characters.ts'
import { count } from '../formatters/format-amounts.ts'

/** One thing that a pull request waits for. */
export interface WaitText {
  readonly wait: PullRequestWait
  /** `Waiting for 2 checks` */
  readonly text: string
  /** The same for a card: `#431 waits for 2 checks`. */
  readonly line: string
  /** `fail` only where a required check failed or it conflicts. */
  readonly tone: 'fail' | 'warn' | 'you' | 'run' | 'neutral'
  /** Whether a person must act. */
  readonly needsYou: boolean
}

type Facts = Omit<WaitText, 'wait'>

/** Returns what the pull request waits for, what a person can do about first. `forge`: its name. */
export function waitTexts(pull: PullRequest, forge: string): readonly WaitText[] {
  return pull.waiting_for.map((wait) => ({ wait, ...factsOf(pull, forge, wait) }))
}

function factsOf(pull: PullRequest, forge: string, wait: PullRequestWait): Facts {
  const no = `#${pull.number}`
  const target = escapeHidden(pull.target)
  switch (wait) {
    case 'conflict':
      return said(`Conflicts with ${target}`, `${no} conflicts with ${target}`, 'fail', true)
    case 'review':
      return said('Has commits that Copse didn’t push', `${no} has commits that Copse didn’t push`, 'you', true)
    case 'checks':
      return checkFacts(pull)
    case 'threads': {
      const open = openThreads(pull).length
      const text = open === 1 ? '1 thread is open' : `${open} threads are open`
      return said(text, `${no} has ${count(open, 'open thread')}`, 'you', true)
    }
    case 'approval':
      return approvalFacts(no, pull)
    case 'draft':
      return said('Still a draft', `${no} is a draft`, 'you', true)
    case 'stack': {
      const lower = pull.below?.number == null ? 'the task below' : `#${pull.below.number}`
      return said(`Waiting for ${lower}`, `${no} waits for ${lower}`, 'neutral', false)
    }
    case 'queue':
      return said('In the merge queue', `${no} is in the merge queue`, 'run', false)
    case 'forge':
      return pull.last_error === null
        ? said(`Waiting for ${forge}`, `${no} waits for ${forge}`, 'neutral', false)
        : said(`Couldn’t ask ${forge}`, `${no}: couldn’t ask ${forge}`, 'warn', false)
  }
}

const said = (text: string, line: string, tone: WaitText['tone'], needsYou: boolean): Facts => ({
  text,
  line,
  tone,
  needsYou,
})

/** A failure that isn't the target's own comes first, since nothing but work ends it. */
function checkFacts(pull: PullRequest): Facts {
  const no = `#${pull.number}`
  const target = escapeHidden(pull.target)
  const { failed, inherited, cancelled, running } = requiredChecks(pull.checks)
  if (failed.length > 0) {
    const what = named(failed)
    return said(`${what} failed`, `${no}: ${what} failed`, 'fail', running.length === 0)
  }
  if (running.length > 0) {
    const what = count(running.length, 'check')
    return said(`Waiting for ${what}`, `${no} waits for ${what}`, 'run', false)
  }
  if (inherited.length > 0) {
    const what = named(inherited)
    const fails = inherited.length === 1 ? 'fails' : 'fail'
    return said(`${what} ${fails} on ${target} too`, `${no}: ${what} ${fails} on ${target} too`, 'warn', true)
  }
  if (cancelled.length === 0) return said('Waiting for checks', `${no} waits for checks`, 'run', false)
  const was = `${named(cancelled)} ${cancelled.length === 1 ? 'was' : 'were'} cancelled`
  return said(was, `${no}: ${was}`, 'warn', true)
}

/** Returns how the checks stand; null without any that count. */
export function checksText(pull: PullRequest): Pick<PullRequestLine, 'text' | 'tone'> | null {
  const { counting, passed } = requiredChecks(pull.checks)
  if (counting.length === 0) return null
  return passed.length === counting.length ? { text: 'Checks passed', tone: 'ok' } : checkFacts(pull)
}

const named = (checks: readonly PullRequestCheck[]): string =>
  checks.length === 1 ? escapeHidden(checks[0]?.name ?? '') : `${checks.length} checks`

/** The checks that hold up the merge, by why; one whose need isn't known counts as required. */
export function requiredChecks(checks: readonly PullRequestCheck[]) {
  const counting = checks.filter(({ required }) => required !== false)
  const inState = (...states: readonly PullRequestCheck['state'][]) =>
    counting.filter(({ state }) => states.includes(state))
  return {
    counting,
    passed: inState('passed', 'skipped'),
    failed: inState('failed').filter(({ inherited }) => !inherited),
    /** Failed on the target too. */
    inherited: inState('failed').filter(({ inherited }) => inherited),
    cancelled: inState('cancelled'),
    running: inState('queued', 'running'),
  }
}

/** Returns the threads that wait for an answer: the last word in them isn't ours. */
export const openThreads = ({ threads }: Pick<PullRequest, 'threads'>): readonly PullRequestThread[] =>
  threads.filter(({ resolved, comments }) => !resolved && comments.at(-1)?.ours !== true)

function approvalFacts(no: string, { reviews }: PullRequest): Facts {
  const by = (state: string) =>
    reviews.filter((review) => review.state === state).map(({ author }) => escapeHidden(author))
  const wanting = by('changes_requested')
  if (wanting.length > 0) {
    const who = someNames(wanting)
    const verb = wanting.length === 1 ? 'requests' : 'request'
    return said(`${who} ${verb} changes`, `${no}: ${who} ${verb} changes`, 'you', true)
  }
  const asked = by('requested')
  const whose = asked.length === 0 ? 'an approval' : `approval by ${someNames(asked)}`
  return said(`Waiting for ${whose}`, `${no} waits for ${whose}`, 'neutral', false)
}

/** `Rita`, `Rita and Mara`, `Rita and 2 others` */
export function someNames(names: readonly string[]): string {
  const [first = '', second] = names
  if (second === undefined) return first
  return names.length === 2 ? `${first} and ${second}` : `${first} and ${names.length - 1} others`
}

/** Returns whether a task's pull request is open at the forge, as a draft or not. */
export const hasOpenPull = ({ pull_request: pull }: { readonly pull_request: PullRequestRef | null }): boolean =>
  pull !== null && (pull.state === 'open' || pull.state === 'draft')

/** The one line of a card with a pull request. */
export interface PullRequestLine {
  readonly text: string
  readonly tone: WaitText['tone'] | 'ok'
  readonly needsYou: boolean
}

/** Returns what a card says of its pull request; `known`: the loaded one, null while it isn't. */
export function pullRequestLine(ref: PullRequestRef, known: PullRequest | null, forge: string): PullRequestLine {
  const no = `#${ref.number}`
  if (ref.state === 'merged') return { text: `${no} merged`, tone: 'neutral', needsYou: false }
  if (ref.state === 'closed') return { text: `${no} closed`, tone: 'you', needsYou: true }
  const isKnown = known?.number === ref.number && known.state !== 'merged' && known.state !== 'closed'
  if (!isKnown)
    return { text: ref.state === 'draft' ? `${no} is a draft` : `${no} open`, tone: 'neutral', needsYou: false }
  const [first] = waitTexts(known, forge)
  if (first === undefined) return { text: `${no} can be merged`, tone: 'ok', needsYou: true }
  return { text: first.line, tone: first.tone, needsYou: first.needsYou }
}
