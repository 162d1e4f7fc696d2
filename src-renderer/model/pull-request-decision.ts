import type { PullRequest, PullRequestCan, PullRequestRef } from '../../src-shared/contract/pull-requests.ts'
import type { DecisionAction, DecisionSentence, PullRequestAct } from './decision-action.ts'
import { waitTexts, type WaitText } from './pull-request-text.ts'

export interface PullRequestFacts {
  /** The task's, in short. */
  readonly ref: PullRequestRef | null
  /** The loaded one; null while it isn't, or without one. */
  readonly known: PullRequest | null
  readonly forge: string
  readonly can: PullRequestCan | null
  /** Why nothing can be sent to the forge, such as that pull requests are off; null if it can. */
  readonly off: string | null
  /** Why there is nothing to open one with; null if there is. */
  readonly unready: string | null
}

export interface PullRequestDecision {
  readonly sentence: DecisionSentence
  /** In the order of their use: the first that isn't refused is the next step. */
  readonly actions: readonly DecisionAction[]
  /** Whether it goes on only with further work, such as after a failed check. */
  readonly needsWork: boolean
}

/** Returns how a pull request stands and what can be done about it. */
export function decidePullRequest(facts: PullRequestFacts): PullRequestDecision {
  const { ref, forge, off, unready } = facts
  if (ref === null) {
    const open = act('open', 'open_pull', 'Open pull request', `Pushes the reviewed work to ${forge}.`, off ?? unready)
    return { sentence: { text: 'No pull request yet', tone: 'you' }, actions: [open], needsWork: false }
  }
  const no = `#${ref.number}`
  if (ref.state === 'merged')
    return { sentence: { text: `${no} was merged`, tone: 'ok' }, actions: [show(no)], needsWork: false }
  if (ref.state === 'closed') {
    const reopen = act('reopen', 'reopen_pull', `Reopen ${no}`, `Opens it on ${forge} again.`, off)
    return {
      sentence: { text: `${no} was closed without merging`, tone: 'you' },
      actions: [reopen, show(no)],
      needsWork: false,
    }
  }
  return ofOpen(facts, no, ref.state === 'draft')
}

function ofOpen({ ref, known, forge, can, off }: PullRequestFacts, no: string, draft: boolean): PullRequestDecision {
  if (known === null || known.number !== ref?.number) {
    const later = act('merge', 'merge_pull', `Merge on ${forge}`, null, off ?? 'It is still loading')
    return { sentence: { text: `${no} is open`, tone: 'neutral' }, actions: [show(no), later], needsWork: false }
  }
  const waits = waitTexts(known, forge)
  const ready = draft ? [readyAction(forge, can, off)] : []
  const others = waits.filter(({ wait }) => wait !== 'draft')
  const [first] = waits
  const merge = act(
    'merge',
    'merge_pull',
    `Merge on ${forge}`,
    `Merges ${no} at the reviewed commit.`,
    off ?? first?.text ?? null,
  )
  if (first === undefined)
    return { sentence: { text: `${no} can be merged`, tone: 'ok' }, actions: [merge], needsWork: false }
  const [next = first] = others
  // A draft that waits for nothing else is the person's turn; the forge works it out.
  const isDraftAlone = draft && others.every(({ wait }) => wait === 'forge')
  return {
    sentence: { text: first.text, tone: first.tone },
    actions: [
      ...(isDraftAlone ? ready : [waiting(next)]),
      ...(isDraftAlone ? [] : ready),
      ...later(waits, forge, can, off),
      merge,
    ],
    needsWork: first.needsYou && endsByWork.has(first.wait),
  }
}

const endsByWork: ReadonlySet<WaitText['wait']> = new Set(['conflict', 'checks', 'threads', 'approval'])

/** The forge itself waits for these; for the others a person or the work must do something first. */
const forgeWaits: ReadonlySet<WaitText['wait']> = new Set(['checks', 'approval', 'threads', 'forge'])

function later(
  waits: readonly WaitText[],
  forge: string,
  can: PullRequestCan | null,
  off: string | null,
): readonly DecisionAction[] {
  if (can?.auto_merge !== true && can?.queue !== true) return []
  if (waits.some(({ wait }) => wait === 'queue')) return []
  const held = waits.find(({ wait }) => !forgeWaits.has(wait))?.text ?? null
  const how = can.queue === true ? 'Puts it into the merge queue.' : `${forge} merges it once it may.`
  return [act('merge_later', 'merge_pull_later', 'Merge when ready', how, off ?? held)]
}

const readyAction = (forge: string, can: PullRequestCan | null, off: string | null): DecisionAction =>
  act(
    'ready',
    'ready_pull',
    'Mark as ready',
    `Asks for reviews on ${forge}.`,
    off ?? (can?.draft === false ? `Mark it as ready on ${forge}` : null),
  )

const act = (
  of: PullRequestAct,
  id: DecisionAction['id'],
  label: string,
  hint: string | null,
  refused: string | null,
): DecisionAction => ({
  id,
  label,
  hint,
  refused,
  command: of === 'merge' ? 'merge' : null,
  deed: { kind: 'pull_request', act: of },
})

const show = (no: string): DecisionAction => waiting({ text: `Show ${no}` })

/** The button says what it waits for, and leads to the details. */
const waiting = ({ text }: Pick<WaitText, 'text'>): DecisionAction => ({
  id: 'await_pull',
  label: text,
  hint: 'Shows the pull request.',
  refused: null,
  command: null,
  deed: { kind: 'see', tab: 'pull_request' },
})
