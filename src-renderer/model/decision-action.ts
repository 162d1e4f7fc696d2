import type { RecoveryAction } from '../../src-shared/contract/tasks.ts'
import { recoveryLabels } from '../formatters/recovery-labels.ts'
import type { CommandId } from './command-list.ts'

/** What is done about a pull request at its forge. */
export type PullRequestAct = 'open' | 'update' | 'ready' | 'merge' | 'merge_later' | 'reopen' | 'close'

export type DecisionTab = 'changes' | 'review' | 'pull_request' | 'hooks'

/** The effect of an action on the task, or the tab that it opens. */
type DecisionDeed =
  | {
      readonly kind: 'advance'
      readonly to: string
      readonly merges: boolean
      /** In this order. */
      readonly steps: readonly ('verdict' | 'transition')[]
    }
  | { readonly kind: 'approve' }
  /** `to`: the state it goes back to; null where it stays and the coder gets what was said. */
  | { readonly kind: 'reject'; readonly to: string | null }
  | { readonly kind: 'update'; readonly by: 'agent' | 'editor' }
  | { readonly kind: 'recover'; readonly action: RecoveryAction }
  /** Done at the forge. */
  | { readonly kind: 'pull_request'; readonly act: PullRequestAct }
  | { readonly kind: 'see'; readonly tab: DecisionTab }
  | { readonly kind: 'move' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'unmerge' }
  | { readonly kind: 'revert' }

export type DecisionId =
  | 'merge'
  | 'approve'
  | 'request_changes'
  | 'resolve'
  | 'resolve_editor'
  | 'retry'
  | 'see'
  | 'move'
  | 'stop'
  | 'unmerge'
  | 'revert'
  | 'open_pull'
  | 'ready_pull'
  | 'merge_pull'
  | 'merge_pull_later'
  | 'reopen_pull'
  | 'await_pull'

export interface DecisionAction {
  readonly id: DecisionId
  readonly label: string
  /** The consequence, for the menu. */
  readonly hint: string | null
  /** The reason why the action is unavailable; null if it is available. */
  readonly refused: string | null
  /** The command whose keys run the same action. */
  readonly command: CommandId | null
  readonly deed: DecisionDeed
  /** What is left undone by it, so that it is asked once; for example `2 comments unresolved`. */
  readonly leaves?: string
}

export interface DecisionSentence {
  readonly text: string
  readonly tone: 'ok' | 'fail' | 'run' | 'you' | 'warn' | 'neutral'
}

/** The pending decision about a task, with all possible actions. */
export interface Decision {
  /** The state of the work and its reviewers. Claims nothing that was not checked. */
  readonly sentence: DecisionSentence
  /** The main action. Refused only if all actions are. */
  readonly primary: DecisionAction
  /** The other actions; unavailable ones have a reason. */
  readonly others: readonly DecisionAction[]
}

/** Returns the actions in the order of a menu. */
export const actionsOf = ({ primary, others }: Decision): readonly DecisionAction[] => [primary, ...others]

export const actionFor = (decision: Decision | null, command: CommandId): DecisionAction | null =>
  (decision && actionsOf(decision).find((action) => action.command === command)) ?? null

export const see = (tab: DecisionTab, label: string): DecisionAction => ({
  id: 'see',
  label,
  hint: null,
  refused: null,
  command: null,
  deed: { kind: 'see', tab },
})
export const recover = (action: 'retry_merge' | 'retry_hook'): DecisionAction => ({
  id: 'retry',
  label: recoveryLabels[action],
  hint: null,
  refused: null,
  command: null,
  deed: { kind: 'recover', action },
})
export const stopOf = (name: string): DecisionAction => ({
  id: 'stop',
  label: `Stop ${name}`,
  hint: 'Its work stays in the worktree.',
  refused: null,
  command: null,
  deed: { kind: 'stop' },
})
export const move = (): DecisionAction => ({
  id: 'move',
  label: 'Move to…',
  hint: null,
  refused: null,
  command: null,
  deed: { kind: 'move' },
})
