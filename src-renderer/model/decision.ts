import { baseConflictText } from '../../src-shared/contract/base-conflict-text.ts'
import type { Review } from '../../src-shared/contract/reviews.ts'
import type { ErrorAnnotation, Task, TaskMove } from '../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition, WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import { count } from '../formatters/format-amounts.ts'
import {
  move,
  recover,
  see,
  stopOf,
  type Decision,
  type DecisionAction,
  type DecisionSentence,
} from './decision-action.ts'
import { afterMerge } from './decision-after-merge.ts'
import { decidePullRequest, type PullRequestFacts } from './pull-request-decision.ts'
import { checkedText, checkFailedText, emptyText, planText } from './task-line.ts'
import { hasTrait, stateOf } from './workflow-shape.ts'

export interface DecisionFacts {
  readonly task: Task
  readonly workflow: WorkflowDefinition
  /** Review attempts, newest first. */
  readonly reviews: readonly Review[]
  readonly moves: readonly TaskMove[]
  /** The branch that the task is merged into. */
  readonly branch: string
  /** What its branch begins at, by name: that branch, or the task below it in a stack. */
  readonly base: string
  /** The conflicting files; null while they are unknown. */
  readonly conflicts: readonly string[] | null
  /** The number of unresolved comment threads. */
  readonly unresolved: number
  /** The number of comments that were not sent to the agent yet. */
  readonly drafts: number
  /** The worker that has the task now. */
  readonly worker: { readonly name: string; readonly queued: boolean } | null
  /** The agent that would resolve a conflict, or why there is none. */
  readonly coder: { readonly name: string } | { readonly refusal: string }
  /** Whether the merge is young enough to be undone. */
  readonly undoable: boolean
  /** The reason why changes are impossible now, for example without a connection; null if they are possible. */
  readonly changeRefusal: string | null
  readonly pullRequest: PullRequestFacts
  /** Returns the name of the author of a verdict (`by`). */
  readonly nameOf: (by: string) => string
  /** Returns whether the current user gave the verdict. */
  readonly isMine: (by: string) => boolean
}

/** Returns the decision that a task waits for; null if there is none. */
export function decide(facts: DecisionFacts): Decision | null {
  const { task, workflow } = facts
  const state = stateOf(workflow, task.status)
  if (state?.kind === 'terminal') return task.merged && afterMerge(task.merged, facts.undoable, facts.changeRefusal)
  if (!state) return null
  switch (task.error_annotation?.type) {
    case 'merge_conflict':
      return afterFailedMerge(facts)
    case 'retry_budget_exhausted':
      if (task.error_annotation.recovery_actions.includes('fix_again')) return atPullRequest(facts, state)
      return offer(facts, { text: 'Too many failed reviews', tone: 'warn' }, [see('review', 'See what failed')])
    default:
      if (hasTrait(workflow, state, 'awaits_pull_request')) return atPullRequest(facts, state)
      if (state.kind === 'gate' && state.transitions.length > 0) return atGate(facts, state)
      return withDrafts(facts, state)
  }
}

/** Away from a gate, comments that were not sent yet can be. */
function withDrafts(facts: DecisionFacts, state: WorkflowState): Decision | null {
  if (facts.drafts === 0 || state.kind === 'backlog' || state.kind === 'initial') return null
  const later = facts.worker === null ? 'The agent starts again with them.' : 'The agent reads them after its run.'
  const action: DecisionAction = {
    id: 'request_changes',
    label: 'Request changes…',
    hint: later,
    refused: null,
    command: 'request-changes',
    deed: { kind: 'reject', to: null },
  }
  return offer(facts, { text: `${count(facts.drafts, 'comment')} not sent`, tone: 'neutral' }, [action])
}

/** The state of the work at its gate. `refusal`: why it can't be approved; `look`: the action that shows the cause. */
interface Standing {
  readonly sentence: DecisionSentence
  readonly refusal: string | null
  readonly look: DecisionAction | null
}

function atGate(facts: DecisionFacts, gate: WorkflowState): Decision {
  const { task, workflow, base, conflicts, unresolved, worker } = facts
  const review = hasTrait(workflow, gate, 'makes_gate') ? facts.reviews[0] : undefined
  const standing = standingAt(facts, gate, review)
  const next = stateOf(workflow, gate.transitions[0]?.to ?? '')
  const merges = next !== undefined && hasTrait(workflow, next, 'merges')
  const passed = review?.status === 'passed'
  const conflict = merges && conflicts !== null && conflicts.length > 0 ? baseConflictText(base, conflicts) : null

  const to = gate.transitions[0]?.to ?? ''
  const move = facts.moves.find((candidate) => candidate.to === to)
  const there = merges ? openThere(task) : null
  // Without a verdict, the service refuses the move only because this action's verdict is missing.
  const notAllowed =
    passed && move?.allowed === false ? (move.reason ?? `It can’t move to ${next?.label ?? to} now`) : null
  const moveRefusal = there ?? notAllowed
  const refused = standing.refusal ?? conflict ?? moveRefusal
  const steps = passed ? ['transition' as const] : review ? (['verdict', 'transition'] as const) : ['verdict' as const]
  const advance: DecisionAction = {
    ...advanceText(facts, gate, { merges, passed, isReviewed: review !== undefined, isEmpty: review?.empty === true }),
    ...(merges && unresolved > 0 && { leaves: `${count(unresolved, 'comment')} unresolved` }),
    refused,
    deed: { kind: 'advance', to, merges, steps },
  }
  const isApproved = review?.verdicts.some(({ by, verdict }) => verdict === 'pass' && facts.isMine(by)) ?? false
  const approve: DecisionAction[] =
    merges && review && !isApproved
      ? [
          {
            id: 'approve',
            label: 'Approve',
            hint: 'Records your approval. It merges later.',
            refused: standing.refusal,
            command: 'approve',
            deed: { kind: 'approve' },
          },
        ]
      : []
  const rest = [...approve, requestChanges(facts, gate)]

  const resolve = conflict === null ? [] : resolutions(facts)
  const stop = worker === null ? [] : [stopOf(worker.name)]
  const sentence: DecisionSentence =
    conflict !== null
      ? { text: conflict, tone: 'fail' }
      : standing.refusal !== null
        ? standing.sentence
        : worker !== null
          ? workText(worker, review !== undefined)
          : moveRefusal !== null
            ? { text: moveRefusal, tone: 'warn' }
            : standing.sentence
  const elsewhere = there === null ? see('review', 'See the review') : see('pull_request', 'Show pull request')
  const look = standing.look ?? (refused === null ? null : elsewhere)
  const isHeld = task.entry_barrier && task.error_annotation?.recovery_actions.includes('retry_hook') === true
  const retry = isHeld ? [recover('retry_hook')] : []
  // Work that changes nothing is worth another try before it is closed.
  const again = review?.empty === true ? [requestChanges(facts, gate)] : []
  const lookFirst = look !== null && (standing.refusal !== null || there !== null) ? [look] : []
  const first = standing.refusal !== null ? [...resolve, ...lookFirst] : [...resolve, ...stop, ...lookFirst, ...again]
  const otherActions = [
    advance,
    ...rest,
    ...retry,
    ...(standing.refusal !== null ? stop : []),
    ...(refused && look ? [look] : []),
  ]
  const seen = new Set<DecisionAction['id']>()
  const all = [...first, ...otherActions].filter(({ id }) => !seen.has(id) && seen.add(id))
  return offer(facts, unresolved > 0 && standing.refusal === null ? withComments(sentence, unresolved) : sentence, all)
}

/** Work with an open pull request is merged there, so that nobody merges it twice. */
function openThere({ pull_request: pull }: Task): string | null {
  if (pull === null || pull.state === 'merged' || pull.state === 'closed') return null
  return `#${pull.number} is open. Merge it there, or close it first.`
}

/** The decision at the gate that waits for the forge. There a person decides about the pull request, not the move. */
function atPullRequest(facts: DecisionFacts, gate: WorkflowState): Decision {
  const { task } = facts
  const back = gate.kind === 'gate' ? [requestChanges(facts, gate)] : []
  if (task.error_annotation?.type === 'hook_failed') {
    const retry = task.error_annotation.recovery_actions.includes('retry_hook') ? [recover('retry_hook')] : []
    const text = task.pull_request === null ? 'The pull request couldn’t be opened' : 'A hook failed'
    return offer(facts, { text, tone: 'fail' }, [...retry, see('hooks', 'See what failed'), ...back])
  }
  if (task.entry_barrier)
    return offer(facts, { text: 'Hooks are running', tone: 'run' }, [see('hooks', 'See the hooks'), ...back])
  const { sentence, actions, needsWork } = decidePullRequest(facts.pullRequest)
  return offer(facts, sentence, needsWork ? [...back, ...actions] : [...actions, ...back])
}

/** Makes the first available action the primary one. */
function offer(facts: DecisionFacts, sentence: DecisionSentence, actions: readonly DecisionAction[]): Decision {
  const known = [...actions, move()].map((action) =>
    facts.changeRefusal !== null && action.deed.kind !== 'see' ? { ...action, refused: facts.changeRefusal } : action,
  )
  const [first = move()] = known
  const primary = known.find(({ refused, id }) => refused === null && id !== 'move') ?? first
  return { sentence, primary, others: known.filter((action) => action !== primary) }
}

function standingAt(facts: DecisionFacts, gate: WorkflowState, review: Review | undefined): Standing {
  const { task, workflow } = facts
  const held = (text: string, tone: DecisionSentence['tone'], look: DecisionAction): Standing => ({
    sentence: { text, tone },
    refusal: text,
    look,
  })
  if (task.error_annotation?.type === 'hook_failed')
    return held('A hook failed', 'fail', see('hooks', 'See what failed'))
  const decisionText = task.error_annotation ? decisionTexts[task.error_annotation.type] : undefined
  if (task.entry_barrier && decisionText !== undefined)
    return held(decisionText, 'you', see('review', 'See the review'))
  const isReviewGate = hasTrait(workflow, gate, 'makes_gate')
  if (!isReviewGate)
    return task.entry_barrier
      ? held('Hooks are running', 'run', see('hooks', 'See the hooks'))
      : { sentence: { text: planText, tone: 'you' }, refusal: null, look: null }

  const failing = review?.step_results.find(({ exit_code }) => exit_code !== null && exit_code !== 0)
  if (failing) return held(checkFailedText(failing.command), 'fail', see('review', 'See what failed'))
  const isOpen = review?.status === 'running' || review?.status === 'pending'
  const done = review?.step_results.filter(({ exit_code }) => exit_code === 0).length ?? 0
  const total = review?.ci_steps.length ?? 0
  if (isOpen && done < total)
    return held(`Checks are running: ${done} of ${total} passed`, 'run', see('review', 'See the checks'))
  if (task.entry_barrier) return held('Hooks are running', 'run', see('hooks', 'See the hooks'))
  if (!review || review.status === 'failed' || review.status === 'cancelled')
    return held('There is no open review', 'warn', see('review', 'See the review'))
  return { sentence: reviewText(facts, review), refusal: null, look: null }
}

/** Conditions that a person must decide about before the checks run. The actions appear beside the task's condition. */
const decisionTexts: Partial<Record<ErrorAnnotation['type'], string>> = {
  work_elsewhere: 'Work is outside the task’s branch. Take it, or leave it out.',
  nested_repository: 'The worktree holds another repository. Take its files, or leave it out.',
  submodule_not_pushed: 'A submodule is not pushed',
}

/** Describes the checks and the approvers of a review. */
function reviewText({ nameOf, isMine }: DecisionFacts, review: Review): DecisionSentence {
  const { ci_steps, verdicts } = review
  if (review.empty) return { text: emptyText(review.ignored), tone: 'neutral' }
  const last = new Map(verdicts.map(({ by, verdict }) => [by, verdict]))
  const others = [...last].flatMap(([by, verdict]) => (verdict === 'pass' && !isMine(by) ? [nameOf(by)] : []))
  const names = [...last].some(([by, verdict]) => verdict === 'pass' && isMine(by)) ? ['You', ...others] : others
  const tone = ci_steps.length === 0 && names.length === 0 ? 'neutral' : 'ok'
  return { text: checkedText(ci_steps.length, names), tone }
}

const workText = (worker: NonNullable<DecisionFacts['worker']>, reviews: boolean): DecisionSentence => ({
  text: worker.queued ? `${worker.name} is queued` : `${worker.name} is ${reviews ? 'reviewing it' : 'working on it'}`,
  tone: 'run',
})

const withComments = (sentence: DecisionSentence, unresolved: number): DecisionSentence => ({
  ...sentence,
  text: `${sentence.text.replace(/\.$/, '')}. ${count(unresolved, 'comment')} unresolved.`,
})

function advanceText(
  { workflow, branch, unresolved }: DecisionFacts,
  gate: WorkflowState,
  { merges, passed, isReviewed, isEmpty }: { merges: boolean; passed: boolean; isReviewed: boolean; isEmpty: boolean },
): Pick<DecisionAction, 'id' | 'label' | 'hint' | 'command'> {
  const [first] = gate.transitions
  const to = stateOf(workflow, first?.to ?? '')?.label ?? first?.to ?? ''
  if (merges)
    return {
      id: 'merge',
      label: isEmpty
        ? 'Close without changes'
        : unresolved > 0
          ? `Merge with ${count(unresolved, 'comment')} unresolved`
          : `Merge into ${branch}`,
      hint: passed ? null : 'Records your approval, then merges.',
      command: 'merge',
    }
  const hint = `It moves to ${to}.`
  // After a plan, the workflow's transition provides the label.
  const label = isReviewed ? (passed ? `Move to ${to}` : `Approve and move to ${to}`) : (first?.label ?? 'Approve')
  return { id: 'approve', label, hint, command: 'approve' }
}

function requestChanges({ task, workflow }: DecisionFacts, gate: WorkflowState): DecisionAction {
  const to = gate.gate_config?.reject_target
  const label = to === undefined ? null : (stateOf(workflow, to)?.label ?? to)
  return {
    id: 'request_changes',
    label: 'Request changes…',
    hint: label === null ? null : `Moves it back to ${label} with your feedback.`,
    refused:
      label === null
        ? 'This workflow has no state to go back to'
        : task.entry_barrier
          ? 'Checks and hooks are still running'
          : null,
    command: 'request-changes',
    deed: { kind: 'reject', to: to ?? null },
  }
}

function resolutions({ coder, branch, worker }: DecisionFacts): readonly DecisionAction[] {
  const busy = worker === null ? null : `${worker.name} is working on it. Wait, or stop it.`
  const name = 'name' in coder ? coder.name : 'the agent'
  return [
    {
      id: 'resolve',
      label: `Let ${name} resolve the conflict`,
      hint: `Merges ${branch} into the branch, then the checks run again.`,
      refused: busy ?? ('refusal' in coder ? coder.refusal : null),
      command: null,
      deed: { kind: 'update', by: 'agent' },
    },
    {
      id: 'resolve_editor',
      label: 'Resolve it in my editor',
      hint: `Begins the merge of ${branch} in the worktree.`,
      refused: busy,
      command: null,
      deed: { kind: 'update', by: 'editor' },
    },
  ]
}

/** Builds the decision after a failed merge. */
function afterFailedMerge(facts: DecisionFacts): Decision {
  const { task, branch, base, conflicts } = facts
  // Without places, the merge failed for another reason.
  const files = conflicts ?? (task.error_annotation?.hunks ? (task.error_annotation.files ?? []) : [])
  const retry = task.error_annotation?.recovery_actions.includes('retry_merge') ? [recover('retry_merge')] : []
  const look = see('review', 'Show conflict')
  if (files.length === 0)
    return offer(facts, { text: `It would merge into ${branch} now`, tone: 'neutral' }, [...retry, look])
  const text = baseConflictText(base, files)
  const later = retry.map((action) => ({ ...action, refused: text }))
  return offer(facts, { text, tone: 'fail' }, [...resolutions(facts), ...later, look])
}
