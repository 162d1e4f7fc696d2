import {
  AlignLeft,
  Archive,
  ArrowLeftRight,
  Bot,
  CircleSlash,
  ClipboardCheck,
  Copy,
  FileDiff,
  GitBranch,
  GitMerge,
  GitPullRequest,
  History,
  LayoutTemplate,
  Link,
  Link2,
  PanelRight,
  Play,
  SignalHigh,
  Square,
  Tag,
  UserRound,
} from '@lucide/vue'
import type { Component } from 'vue'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { decisionIcons } from '../../../components/decision-icons.ts'
import type { CommandId } from '../../../model/command-list.ts'
import { actionsOf as actionsOfDecision, type DecisionAction } from '../../../model/decision-action.ts'
import { stateOf } from '../../../model/workflow-shape.ts'
import type { DecisionInHand } from '../../../stores/review/decisions.ts'
import { useExecutions } from '../../../stores/runs/executions.ts'
import { useLive } from '../../../stores/live.ts'
import { useNavigation } from '../../../stores/base/navigation.ts'
import { usePeople } from '../../../stores/people/people.ts'
import { useProjects } from '../../../stores/project/projects.ts'
import { useTasks } from '../../../stores/tasks/tasks.ts'
import { useToasts } from '../../../stores/base/toasts.ts'
import { actionsOf } from '../moves/card-actions.ts'
import type { Moves } from '../moves/use-moves.ts'

/** An action on a task, or the reason why it is unavailable. */
export interface CardAction {
  readonly id: string
  readonly label: string
  readonly icon: Component
  /** The command with the same shortcut. */
  readonly command?: CommandId
  readonly refused?: string | null
  /** The consequence of the action. */
  readonly hint?: string | null
  /** Whether the action starts a group. */
  readonly apart?: boolean
  run(): unknown
}

/** The decision of one task, shown in its menu. */
export interface DecisionMenu {
  readonly hand: DecisionInHand
  readonly choose: (action: DecisionAction) => unknown
  readonly mergeAndGoOn: () => unknown
}

/** Returns the actions of a card for its menu and shortcuts. Errors become toasts. */
export function useCardActions(moves: Moves, decisions: DecisionMenu): (task: Task) => readonly CardAction[] {
  const list = useList(moves, decisions)
  const toasts = useToasts()

  /** Wraps the action so that an error becomes a toast. */
  const withErrorToast = (action: CardAction): CardAction => ({
    ...action,
    run: () => void Promise.resolve(action.run()).catch((error: unknown) => toasts.refused(error)),
  })
  return (task) => list(task).map(withErrorToast)
}

function useCopies() {
  const tasks = useTasks()
  const toasts = useToasts()
  async function copy(text: string): Promise<void> {
    await navigator.clipboard.writeText(text)
    toasts.done(`Copied ${text}`)
  }
  return {
    id: (task: Task) => copy(task.id),
    /** Copies a link that opens the task in the desktop app. */
    link: (task: Task) => copy(`copse://task/${task.id}`),
    branch: async (task: Task) => copy(await tasks.branch(task.id)),
  }
}

function useList(moves: Moves, { hand, choose, mergeAndGoOn }: DecisionMenu): (task: Task) => readonly CardAction[] {
  const executions = useExecutions()
  const live = useLive()
  const navigation = useNavigation()
  const people = usePeople()
  const projects = useProjects()
  const copies = useCopies()

  const workerOf = (task: Task): string | null => {
    const agentId = executions.byId.get(task.active_execution_id ?? '')?.agent_id
    return agentId ? people.face({ type: 'agent', id: agentId }).name : null
  }
  function stop(task: Task): Promise<void> | undefined {
    return task.active_execution_id === null ? undefined : executions.stop(task.active_execution_id)
  }
  /** Returns the decision's actions, except moves, stops and links to tabs, which each card's menu has. */
  const decisionOf = (task: Task): readonly CardAction[] => {
    if (hand.decision.value === null || hand.task.value?.id !== task.id) return []
    const own = actionsOfDecision(hand.decision.value)
    return own
      .filter(({ id }) => id !== 'move' && id !== 'stop' && id !== 'see')
      .flatMap((one, index) => {
        const { id, label, hint, refused, command } = one
        const more = { refused, hint, apart: index === 0, ...(command && { command }) }
        const known = action(id, label, decisionIcons[id], () => choose(one), more)
        const next = { command: 'merge-next', refused } as const
        return id === 'merge'
          ? [known, action('merge_next', 'Merge and go to the next', GitMerge, mergeAndGoOn, next)]
          : [known]
      })
  }
  return (task) => {
    const worker = workerOf(task)
    const can = actionsOf(task, stateOf(projects.workflow(task.project_id), task.status), worker, live.offline)
    const open = (tab?: string) => navigation.openTask(task.id, tab)
    return [
      action('open', 'Open', PanelRight, () => open(), { command: 'open' }),
      action('overview', 'Overview', AlignLeft, () => open('overview'), { command: 'overview' }),
      action('agent', 'Agent', Bot, () => open('agent'), { command: 'agent' }),
      action('changes', 'Changes', FileDiff, () => open('changes'), { command: 'changes' }),
      action('review', 'Review', ClipboardCheck, () => open('review'), { command: 'review', refused: can.review }),
      ...(task.pull_request === null ? [] : [openPull(() => open('pull_request'))]),
      action('activity', 'Activity', History, () => open('activity'), { command: 'activity' }),
      ...decisionOf(task),
      action('start', 'Start', Play, () => moves.start(task), { command: 'start', refused: can.start, apart: true }),
      action('stop', `Stop ${worker ?? ''}`.trim(), Square, () => stop(task), { command: 'stop', refused: can.stop }),
      action('move', 'Move to…', ArrowLeftRight, () => moves.askMove(task), { command: 'move', refused: can.cancel }),
      action('assign', 'Assign…', UserRound, () => moves.askAssign(task), { command: 'assign', refused: can.cancel }),
      action('after', 'Starts after…', Link2, () => moves.askAfter(task), { command: 'after', refused: can.cancel }),
      action('priority', 'Priority…', SignalHigh, () => moves.askAll('priority', [task]), {
        command: 'priority',
        refused: live.refusal,
      }),
      action('label', 'Labels…', Tag, () => moves.askAll('labels', [task]), {
        command: 'label',
        refused: live.refusal,
      }),
      action('template', 'Save as template…', LayoutTemplate, () => moves.askTemplate(task), { refused: live.refusal }),
      action('copy', 'Copy ID', Copy, () => copies.id(task), { apart: true }),
      action('link', 'Copy link', Link, () => copies.link(task)),
      action('branch', 'Copy branch name', GitBranch, () => copies.branch(task)),
      action('cancel', 'Cancel task…', CircleSlash, () => moves.askCancel(task), { refused: can.cancel, apart: true }),
      action('archive', 'Archive', Archive, () => moves.askArchive(task), { refused: can.archive }),
    ]
  }
}

const openPull = (run: () => unknown): CardAction =>
  action('pull-request', 'Pull request', GitPullRequest, run, { command: 'pull-request' })

function action(
  id: string,
  label: string,
  icon: Component,
  run: () => unknown,
  more: Pick<CardAction, 'command' | 'refused' | 'hint' | 'apart'> = {},
): CardAction {
  return { id, label, icon, run, ...more }
}
