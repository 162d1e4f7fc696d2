import { shallowRef, watch, type ShallowRef } from 'vue'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import type { ExecutionOverrides } from '../../../../src-shared/contract/executions.ts'
import { limitAmount, limitNames, raisedTo } from '../../../../src-shared/contract/limit-names.ts'
import type { NeededTrust } from '../../../../src-shared/contract/runner-trust.ts'
import type { Assignee, Task, TaskMove } from '../../../../src-shared/contract/tasks.ts'
import { count } from '../../../formatters/format-amounts.ts'
import { hasOpenPull } from '../../../model/pull-request-text.ts'
import { hasTrait, stateOf } from '../../../model/workflow-shape.ts'
import { useAgents } from '../../../stores/agents/agents.ts'
import { useChains } from '../../../stores/chains.ts'
import { useFeedbackDraft } from '../../../stores/base/drafts.ts'
import { useExecutions } from '../../../stores/runs/executions.ts'
import { useMovesKey } from '../../../stores/review/task-details.ts'
import { useProjects } from '../../../stores/project/projects.ts'
import type { TaskPlacement } from '../../../stores/tasks/task-changes.ts'
import { useTasks } from '../../../stores/tasks/tasks.ts'
import { useToasts, type ToastAction } from '../../../stores/base/toasts.ts'
import type { DecisionQuestions } from '../../../stores/review/decisions.ts'
import type { RequestedChanges } from '../../../stores/review/comments.ts'
import { useBulk, type BulkActions } from './use-bulk.ts'
import { useUndo } from './use-undo.ts'

/** A question about several tasks at once, or about one. */
type BulkQuestion = 'start' | 'state' | 'labels' | 'priority'

/** A question that a move asks before it runs. */
export type MoveQuestion =
  | { readonly kind: 'agent'; readonly task: Task; readonly to: string | null }
  | { readonly kind: 'changes'; readonly task: Task; readonly to: string | null }
  | { readonly kind: 'merge'; readonly task: Task; readonly leaves: string; readonly answer: (yes: boolean) => void }
  | { readonly kind: 'cancel' | 'archive'; readonly task: Task }
  | { readonly kind: 'assign' | 'template'; readonly task: Task }
  /** The order of two tasks; one of them may still be missing. */
  | { readonly kind: 'chain'; readonly task: Task; readonly first: Task | null; readonly next: Task | null }
  | { readonly kind: BulkQuestion; readonly task: Task; readonly tasks: readonly Task[] }
  | { readonly kind: 'move'; readonly task: Task; readonly moves: readonly TaskMove[] | null }
  /** The dev container of a claim wants to reach the machine of its runner. */
  | { readonly kind: 'trust'; readonly task: Task; readonly needed: NeededTrust; readonly claim: () => Promise<void> }

/** The moves and other changes of tasks on the board, with the questions that they ask. */
export interface Moves {
  /** The open question; null without one. */
  readonly question: Readonly<ShallowRef<MoveQuestion | null>>
  readonly perform: (task: Task, move: TaskMove) => Promise<void>
  /** Claims the task for the agent of its roles; asks for one if there is none. */
  readonly start: (task: Task, to?: string | null) => Promise<void>
  /** Asks for an agent, also if the task's roles name one. */
  readonly askAgent: (task: Task) => void
  readonly claim: (
    task: Task,
    to: string | null,
    agentId: string | null,
    overrides?: ExecutionOverrides,
  ) => Promise<void>
  readonly askMove: (task: Task) => Promise<void>
  /** Cancels the task with undo; asks first if an agent works on it or it has changes. */
  readonly askCancel: (task: Task) => void
  /** The questions of a decision. */
  readonly questions: DecisionQuestions
  /** The same changes of several tasks. */
  readonly bulk: BulkActions
  readonly askAll: (kind: BulkQuestion, tasks: readonly Task[]) => void
  readonly askTemplate: (task: Task) => void
  /** Asks how the task starts after another; without `first` asks for that task too. */
  readonly askAfter: (next: Task, first?: Task | null) => void
  /** Asks how another task starts after this one; without `next` asks for that task too. */
  readonly askBefore: (first: Task, next?: Task | null) => void
  readonly askAssign: (task: Task) => void
  readonly assign: (task: Task, role: string, to: Assignee) => Promise<void>
  /** Archives the task; asks first if its pull request is open. */
  readonly askArchive: (task: Task) => void
  readonly archive: (task: Task, closesPullRequest: boolean) => Promise<void>
  /** Reorders the card in its column, optimistically. */
  readonly place: (task: Task, placement: TaskPlacement) => Promise<void>
  /** Closes the open question. */
  readonly close: () => void
  /** Sends comments and words to the coder; at a gate the task goes back with them. */
  readonly requestChanges: (task: Task, to: string | null, changes: RequestedChanges) => Promise<void>
  readonly cancel: (task: Task, closesPullRequest: boolean) => Promise<void>
  /** Shows why the task stays in its state. */
  readonly refused: (task: Task, reason: string) => void
  /** Shows the error after which the task stays in its state. */
  readonly failed: (task: Task, error: unknown) => void
  /** Shows that the board couldn't be loaded. */
  readonly unreachable: (error: unknown) => void
}

/** Runs a task's moves. Opens a dialog first if a move needs an agent, feedback or a confirmation. */
export function useMoves(): Moves {
  const tasks = useTasks()
  const toasts = useToasts()
  const projects = useProjects()
  const agents = useAgents()
  const chains = useChains()
  const { optimistic, unchangedText } = withOptimisticMove()
  const knownAgent = useKnownAgent()
  const { cancelWithUndo, archive } = useUndo(unchangedText)
  const bulk = useBulk()
  const executions = useExecutions()
  const movesKey = useMovesKey()
  const question = shallowRef<MoveQuestion | null>(null)
  let lastRequest = 0
  const ask = (next: MoveQuestion | null) => {
    const { value: last } = question
    question.value = next
    // Closed without a word.
    if (last?.kind === 'merge') last.answer(false)
  }

  const isMerge = (task: Task, to: string): boolean => {
    return hasTrait(projects.workflow(task.project_id), { name: to }, 'merges')
  }
  /**
   * Returns a toast action that starts the task later, if a full state refused the claim.
   */
  const startLater =
    (task: Task, agentId: string | null, overrides?: ExecutionOverrides) =>
    (error: unknown): ToastAction | undefined => {
      if (agentId === null || !(error instanceof ApiError)) return undefined
      if (error.code !== 'wip_limit') return undefined
      const start = () => tasks.startWhenReady(task.id, agentId, overrides)
      return {
        label: 'Start when there is room',
        run: () => void toasts.attemptOn(task, 'It doesn’t start automatically', start),
      }
    }
  /** Claims the task, or lets the agent start once the tasks are done that it waits for. */
  async function claimWhenReady(task: Task, agentId: string | null, overrides?: ExecutionOverrides): Promise<void> {
    try {
      await tasks.claim(task.id, agentId ?? undefined, overrides)
    } catch (error) {
      if (agentId === null || !(error instanceof ApiError) || error.code !== 'dependency_gate') throw error
      await tasks.startWhenReady(task.id, agentId, overrides)
      const [first] = chains.waitsFor(task)
      const after = first ? `starts after ${first.ref}` : 'starts automatically'
      const dontStart = () => toasts.attemptOn(task, 'It still starts automatically', () => tasks.cancelStart(task.id))
      toasts.doneUntilRun(task, `${task.ref} ${after} with ${agents.byId.get(agentId)?.name ?? 'the agent'}`, {
        label: 'Undo',
        run: () => void dontStart(),
      })
    }
  }
  const claim = (
    task: Task,
    to: string | null,
    agentId: string | null,
    overrides?: ExecutionOverrides,
  ): Promise<void> =>
    optimistic(
      task,
      to,
      () => claimWhenReady(task, agentId, overrides),
      (error) =>
        startLater(task, agentId, overrides)(error) ??
        raiseAndStart(task, agentId, overrides)(error) ??
        waitForRunner(task, agentId, overrides)(error),
      (error) => {
        if (!(error instanceof ApiError) || error.code !== 'runner_needs_trust') return false
        const needed = error.details as NeededTrust
        ask({ kind: 'trust', task, needed, claim: () => claim(task, to, agentId, overrides) })
        return true
      },
    )
  /** Returns a toast action that queues the run until a runner is ready, if none could be reached. */
  const waitForRunner =
    (task: Task, agentId: string | null, overrides?: ExecutionOverrides) =>
    (error: unknown): ToastAction | undefined => {
      if (agentId === null || !(error instanceof ApiError) || error.code !== 'runner_unreachable') return undefined
      const wait = () => tasks.claim(task.id, agentId, { ...overrides, lock_policy: 'wait' })
      return {
        label: 'Start when it can be reached',
        run: () => void toasts.attemptOn(task, 'Couldn’t start', wait),
      }
    }
  /**
   * Returns a toast action that raises the limit of this task and starts it, if a limit refused the
   * agent. Only an owner may.
   */
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
  /**
   * Cancels the task; asks first if an agent works on it or it has changes, because those can't be
   * undone, or what becomes of its open pull request.
   */
  function askCancel(task: Task): void {
    const running = executions.byId.get(task.active_execution_id ?? '')
    const waits = task.active_execution_id === null || running?.status === 'queued'
    if (waits && task.diff_stat === null && !hasOpenPull(task)) cancelWithUndo(task)
    else ask({ kind: 'cancel', task })
  }
  async function perform(task: Task, move: TaskMove): Promise<void> {
    switch (move.via) {
      case 'claim':
        return start(task, move.to)
      case 'verdict_fail':
        return ask({ kind: 'changes', task, to: move.to })
      case 'cancel':
        return askCancel(task)
      case 'transition':
        return optimistic(task, move.to, () =>
          isMerge(task, move.to) ? tasks.merge(task.id, move.to) : tasks.transition(task.id, move.to),
        )
    }
  }
  async function askMove(task: Task): Promise<void> {
    ask({ kind: 'move', task, moves: null })
    await showMoves(task)
  }
  async function showMoves(task: Task): Promise<void> {
    const request = ++lastRequest
    const isAsked = () =>
      request === lastRequest && question.value?.kind === 'move' && question.value.task.id === task.id
    try {
      const moves = await tasks.moves(task.id)
      if (isAsked()) ask({ kind: 'move', task, moves })
    } catch (error) {
      // Keep the dialog if it already shows moves or the user is at another question.
      if (!isAsked() || (question.value?.kind === 'move' && question.value.moves !== null)) return
      ask(null)
      toasts.refused(error, unchangedText(task), undefined, task)
    }
  }
  // While the dialog is open, moves may become allowed or refused, so load them again.
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
    askAgent: (task: Task) => ask({ kind: 'agent', task, to: null }),
    claim,
    askMove,
    askCancel,
    questions: {
      requestChanges: (task: Task, to: string | null) => ask({ kind: 'changes', task, to }),
      mergeWith: (task: Task, leaves: string) => {
        const { promise, resolve } = Promise.withResolvers<boolean>()
        ask({ kind: 'merge', task, leaves, answer: resolve })
        return promise
      },
      move: (task: Task) => void askMove(task),
    },
    bulk,
    askAll: (kind: BulkQuestion, all: readonly Task[]): void => {
      const [task] = all
      if (task) ask({ kind, task, tasks: all })
    },
    askTemplate: (task: Task) => ask({ kind: 'template', task }),
    askAfter: (next: Task, first: Task | null = null) => ask({ kind: 'chain', task: next, first, next }),
    askBefore: (first: Task, next: Task | null = null) => ask({ kind: 'chain', task: next ?? first, first, next }),
    askAssign: (task: Task) => ask({ kind: 'assign', task }),
    assign: async (task: Task, role: string, to: Assignee): Promise<void> => {
      try {
        await tasks.giveRole(task.id, role, to)
      } catch (error) {
        toasts.refusedOn(task, error, 'Couldn’t reassign')
      }
    },
    askArchive: (task: Task) => {
      if (hasOpenPull(task)) ask({ kind: 'archive', task })
      else void archive(task)
    },
    archive,
    place: async (task: Task, placement: TaskPlacement): Promise<void> => {
      try {
        await tasks.place(task.id, placement)
      } catch (error) {
        toasts.refused(error, `“${task.title}” stays where it was.`, undefined, task)
      }
    },
    close: () => ask(null),
    requestChanges: (task: Task, to: string | null, { comment_ids, message }: RequestedChanges) =>
      optimistic(task, to, async () => {
        const words = message === '' ? {} : { feedback: message }
        if (to === null) await executions.send(task.id, [...comment_ids], message === '' ? undefined : message)
        else await tasks.verdict(task.id, { verdict: 'fail', comment_ids: [...comment_ids], ...words })
        useFeedbackDraft(() => task.id).value = ''
        toasts.doneOn(task, sentText(comment_ids.length))
      }),
    cancel: (task: Task, closesPullRequest: boolean) =>
      optimistic(task, null, () => tasks.cancel(task.id, closesPullRequest)),
    refused: (task: Task, reason: string) => toasts.warn(`${unchangedText(task)} ${reason}`, undefined, task),
    failed: (task: Task, error: unknown) => toasts.refused(error, unchangedText(task), undefined, task),
    unreachable: (error: unknown) => toasts.refused(error, 'Couldn’t load the board.'),
  }
}

const sentText = (comments: number): string =>
  comments === 0 ? 'Requested changes' : `Requested changes with ${count(comments, 'comment')}`

/** Returns a lookup of the agent that the task's roles assign to the work; null if none or paused. */
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

/** Runs changes of a card optimistically. */
function withOptimisticMove() {
  const tasks = useTasks()
  const projects = useProjects()
  const toasts = useToasts()

  /** Returns a sentence that names the current state of the task. */
  function unchangedText(task: Task): string {
    const state = stateOf(projects.workflow(task.project_id), task.status)
    return `“${task.title}” is still in ${state?.label ?? task.status}.`
  }
  return {
    unchangedText,
    /**
     * Runs `work` with the card already in `to`; an error moves it back and shows a toast, unless `asksAbout` asks about
     * it.
     */
    async optimistic(
      task: Task,
      to: string | null,
      work: () => Promise<unknown>,
      actionFor?: (error: unknown) => ToastAction | undefined,
      asksAbout?: (error: unknown) => boolean,
    ): Promise<void> {
      try {
        await (to === null ? work() : tasks.moving(task.id, to, work))
        toasts.succeeded(task.id)
      } catch (error) {
        if (asksAbout?.(error) === true) return
        toasts.refused(error, unchangedText(task), actionFor?.(error) ?? toasts.opening(task), task)
      }
    },
  }
}
