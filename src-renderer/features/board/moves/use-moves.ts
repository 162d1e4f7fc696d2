import { shallowRef, watch } from 'vue'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import type { ExecutionOverrides } from '../../../../src-shared/contract/executions.ts'
import { limitAmount, limitNames, raisedTo } from '../../../../src-shared/contract/limit-names.ts'
import type { Assignee, Task, TaskMove } from '../../../../src-shared/contract/tasks.ts'
import { hasTrait, stateOf } from '../../../model/workflow-shape.ts'
import { useAgents } from '../../../stores/agents/agents.ts'
import { useFeedbackDraft } from '../../../stores/base/drafts.ts'
import { useExecutions } from '../../../stores/runs/executions.ts'
import { useMovesKey } from '../../../stores/review/task-details.ts'
import { useProjects } from '../../../stores/project/projects.ts'
import type { TaskPlacement } from '../../../stores/tasks/task-changes.ts'
import { useTasks } from '../../../stores/tasks/tasks.ts'
import { useToasts, type ToastAction } from '../../../stores/base/toasts.ts'
import { useBulk } from './use-bulk.ts'
import { useUndo } from './use-undo.ts'

/** What is asked about several tasks at once, or about one. */
export type BulkQuestion = 'start' | 'state' | 'labels' | 'priority'

/** A question that a move asks before it is made. */
export type MoveQuestion =
  | { readonly kind: 'agent'; readonly task: Task; readonly to: string | null }
  | { readonly kind: 'feedback'; readonly task: Task; readonly to: string }
  | { readonly kind: 'cancel'; readonly task: Task }
  | { readonly kind: 'assign' | 'template'; readonly task: Task }
  /** Which task starts after which; one of them may still have to be chosen. */
  | { readonly kind: 'chain'; readonly task: Task; readonly first: Task | null; readonly next: Task | null }
  | { readonly kind: BulkQuestion; readonly task: Task; readonly tasks: readonly Task[] }
  | { readonly kind: 'move'; readonly task: Task; readonly moves: readonly TaskMove[] | null }

/** Makes moves by the operation that each names, asking first where something must be known. */
export function useMoves() {
  const tasks = useTasks()
  const toasts = useToasts()
  const projects = useProjects()
  const { optimistic, stays } = withOptimisticMove()
  const knownAgent = useKnownAgent()
  const { cancelWithUndo, archive } = useUndo(stays)
  const bulk = useBulk()
  const executions = useExecutions()
  const movesKey = useMovesKey()
  const question = shallowRef<MoveQuestion | null>(null)
  let turn = 0
  const ask = (next: MoveQuestion | null) => void (question.value = next)

  const merges = (task: Task, to: string): boolean => {
    return hasTrait(projects.workflow(task.project_id), { name: to }, 'merges')
  }
  /** A task that depends on others, or whose state is full, can't be claimed now, but may start automatically later. */
  const startLater =
    (task: Task, agentId: string | null, overrides?: ExecutionOverrides) =>
    (error: unknown): ToastAction | undefined => {
      if (agentId === null || !(error instanceof ApiError)) return undefined
      if (error.code !== 'dependency_gate' && error.code !== 'wip_limit') return undefined
      const start = () => tasks.startWhenReady(task.id, agentId, overrides)
      return {
        label: error.code === 'wip_limit' ? 'Start when there is room' : 'Start when ready',
        run: () => void toasts.attemptOn(task, 'It doesn’t start automatically', start),
      }
    }
  const claim = (task: Task, to: string | null, agentId: string | null, overrides?: ExecutionOverrides) =>
    optimistic(
      task,
      to,
      () => tasks.claim(task.id, agentId ?? undefined, overrides),
      (error) => startLater(task, agentId, overrides)(error) ?? raiseAndStart(task, agentId, overrides)(error),
    )
  /** A limit that refuses the agent is raised for this task by an owner, who then starts it. */
  const raiseAndStart =
    (task: Task, agentId: string | null, overrides?: ExecutionOverrides) =>
    (error: unknown): ToastAction | undefined => {
      const reached = error instanceof ApiError && error.code === 'limit_reached' ? error.details : undefined
      const name = limitNames.find((one) => one === reached?.['limit'])
      const [allowed, spent] = [Number(reached?.['allowed']), Number(reached?.['spent'])]
      if (agentId === null || name === undefined || Number.isNaN(allowed + spent)) return undefined
      const to = raisedTo(allowed, spent)
      const raise = async () => {
        await tasks.raiseLimit(task.id, to)
        await tasks.claim(task.id, agentId, overrides)
      }
      return {
        label: `Raise to ${limitAmount(name, to)} and start`,
        run: () => void toasts.attemptOn(task, 'Couldn’t raise the limit', raise),
      }
    }

  async function start(task: Task, to: string | null = null): Promise<void> {
    const agent = knownAgent(task)
    if (agent === null) ask({ kind: 'agent', task, to })
    else await claim(task, to, agent)
  }
  /** Nothing is lost with a task that nobody works on yet: that is taken back, not asked. */
  function askCancel(task: Task): void {
    const running = executions.byId.get(task.active_execution_id ?? '')
    const waits = task.active_execution_id === null || running?.status === 'queued'
    if (waits && task.diff_stat === null) cancelWithUndo(task)
    else ask({ kind: 'cancel', task })
  }
  async function perform(task: Task, move: TaskMove): Promise<void> {
    switch (move.via) {
      case 'claim':
        return start(task, move.to)
      case 'verdict_fail':
        return ask({ kind: 'feedback', task, to: move.to })
      case 'cancel':
        return askCancel(task)
      case 'transition':
        return optimistic(task, move.to, () =>
          merges(task, move.to) ? tasks.merge(task.id, move.to) : tasks.transition(task.id, move.to),
        )
    }
  }
  async function askMove(task: Task): Promise<void> {
    ask({ kind: 'move', task, moves: null })
    await showMoves(task)
  }
  async function showMoves(task: Task): Promise<void> {
    const mine = ++turn
    const isAsked = () => mine === turn && question.value?.kind === 'move' && question.value.task.id === task.id
    try {
      const moves = await tasks.moves(task.id)
      if (isAsked()) ask({ kind: 'move', task, moves })
    } catch (error) {
      // Whoever sees where it could go, or has gone on to the next question, keeps that.
      if (!isAsked() || (question.value?.kind === 'move' && question.value.moves !== null)) return
      ask(null)
      toasts.refused(error, stays(task))
    }
  }
  // While one chooses, what was refused may come to be allowed, and the other way round.
  watch(
    () => (question.value?.kind === 'move' ? movesKey(question.value.task.id).join(' ') : null),
    (now, before) => {
      const current = question.value
      if (now !== null && before !== null && current?.kind === 'move') void showMoves(current.task)
    },
  )
  return {
    question,
    perform,
    start,
    /** Asks who should do the task, also where its roles are assigned. */
    askAgent: (task: Task) => ask({ kind: 'agent', task, to: null }),
    claim,
    askMove,
    askCancel,
    /** What a decision asks first. */
    questions: {
      feedback: (task: Task, to: string) => ask({ kind: 'feedback', task, to }),
      move: (task: Task) => void askMove(task),
    },
    bulk,
    askAll: (kind: BulkQuestion, all: readonly Task[]): void => {
      const [task] = all
      if (task) ask({ kind, task, tasks: all })
    },
    askTemplate: (task: Task) => ask({ kind: 'template', task }),
    /** Asks how the task starts after another, and first after which. */
    askAfter: (next: Task, first: Task | null = null) => ask({ kind: 'chain', task: next, first, next }),
    /** Asks how another task starts after this one, and first which. */
    askBefore: (first: Task, next: Task | null = null) => ask({ kind: 'chain', task: next ?? first, first, next }),
    askAssign: (task: Task) => ask({ kind: 'assign', task }),
    assign: async (task: Task, role: string, to: Assignee): Promise<void> => {
      try {
        await tasks.giveRole(task.id, role, to)
      } catch (error) {
        toasts.refused(error, `Couldn’t reassign “${task.title}”.`)
      }
    },
    archive,
    /** Puts the card elsewhere in its column; it is shown there at once. */
    place: async (task: Task, placement: TaskPlacement): Promise<void> => {
      try {
        await tasks.place(task.id, placement)
      } catch (error) {
        toasts.refused(error, `“${task.title}” stays where it was.`)
      }
    },
    close: () => ask(null),
    sendBack: (task: Task, to: string, feedback: string) =>
      optimistic(task, to, async () => {
        const judged = await tasks.verdict(task.id, 'fail', feedback)
        useFeedbackDraft(() => task.id).value = ''
        return judged
      }),
    cancel: (task: Task) => optimistic(task, null, () => tasks.cancel(task.id)),
    refused: (task: Task, reason: string) => toasts.warn(`${stays(task)} ${reason}`),
    failed: (task: Task, error: unknown) => toasts.refused(error, stays(task)),
    unreachable: (error: unknown) => toasts.refused(error, 'Couldn’t load the board.'),
  }
}

export type Moves = ReturnType<typeof useMoves>

/** The agent that the task's own roles name for the work, if it takes work now. */
function useKnownAgent(): (task: Task) => string | null {
  const agents = useAgents()
  const projects = useProjects()
  return (task) => {
    const working = projects.workflow(task.project_id)?.states.filter((state) => state.kind === 'active') ?? []
    for (const state of working) {
      const assignee = task.roles[state.role ?? 'assignee']
      if (assignee?.type === 'agent' && agents.byId.get(assignee.id)?.paused === false) return assignee.id
    }
    return null
  }
}

/** Changes of a card that show before the service has agreed. */
function withOptimisticMove() {
  const tasks = useTasks()
  const projects = useProjects()
  const toasts = useToasts()

  /** Where the card is when nothing came of the change. */
  function stays(task: Task): string {
    const state = stateOf(projects.workflow(task.project_id), task.status)
    return `“${task.title}” is still in ${state?.label ?? task.status}.`
  }
  return {
    stays,
    /** Runs the change with the card already where it goes; a refusal brings it back and says why. */
    async optimistic(
      task: Task,
      to: string | null,
      work: () => Promise<unknown>,
      wayOn?: (error: unknown) => ToastAction | undefined,
    ): Promise<void> {
      try {
        await (to === null ? work() : tasks.moving(task.id, to, work))
      } catch (error) {
        toasts.refused(error, stays(task), wayOn?.(error) ?? toasts.opening(task))
      }
    },
  }
}
