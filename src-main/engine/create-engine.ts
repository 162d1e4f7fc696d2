import { accountOf, limitedUntil, limitView } from '../executions/accounts.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { RunnerId, TaskId } from '../../src-shared/contract/ids.ts'
import { createRunLimits, type RunLimits } from '../executions/run-limits.ts'
import { createActions, type Actions } from '../tasks/actions.ts'
import { createClaims, type Claims } from '../tasks/claims.ts'
import { createWipPulls, type WipPulls } from '../tasks/wip-pulls.ts'
import { createReadyStarts, type ReadyStarts } from '../tasks/ready-starts.ts'
import { createStacks, type Stacks } from '../stacks/stacks.ts'
import { createCleanup, type Cleanup } from '../workspaces/cleanup.ts'
import type { PluginChecks } from '../domain/workflow/validate.ts'
import { nowIso } from '../core/ground.ts'
import type { EngineContext } from './engine-context.ts'
import { createOutboxWorker, type OutboxWorker } from '../steps/outbox-worker.ts'
import { createExecutions, shutdownGraceMs, type Executions, type ExecutionsDeps } from '../executions/executions.ts'
import { createProjectDeletions, type ProjectDeletions } from '../projects/delete-projects.ts'
import { createLifecycle, type Hooks, type Lifecycle } from '../hooks/create-lifecycle.ts'
import { createPerformStep } from '../steps/perform-step.ts'
import type { StepServices } from '../steps/step-services.ts'
import { createOrphans, type Orphans } from '../workspaces/orphans.ts'
import { createPlugins, pluginRules } from '../plugins/create-plugins.ts'
import type { Plugin, PluginServices } from '../hooks/plugin.ts'
import { createPrompts, type Prompts } from '../executions/preview-prompt.ts'
import { recover } from './recovery.ts'
import { createRepositories, type Repositories } from '../projects/repositories.ts'
import { createLanding, type Landing } from '../landing/landing.ts'
import { createBaseConflicts, type BaseConflicts } from '../overlaps/base-conflicts.ts'
import { createOverlaps, type Overlaps } from '../overlaps/overlaps.ts'
import { createPullRequests, type PullRequests } from '../pull-requests/pull-requests.ts'
import { createRescues, type Rescues } from '../workspaces/rescues.ts'
import { createRemoteRuns, type RemoteRuns } from '../executions/remote-runs.ts'
import { createRunners, type Runners } from '../runners/runners.ts'
import { createScheduler, type Scheduler } from '../executions/scheduler.ts'
import { stopOpen, stopRoleOf } from './stop-runs.ts'
import { createSweeps, type SweepParts, type Sweeps } from './sweeps.ts'
import { createTransitions } from '../transitions/transitions.ts'
import { createAuthority, type Authority } from '../tasks/authority.ts'
import { createAttachments, type Attachments } from '../tasks/attachments.ts'
import { createSuggestions, type Suggestions } from '../tasks/suggestions.ts'
import { createMergeUndo, type MergeUndo } from '../tasks/undo-merge.ts'
import { createBranchUpdates, type BranchUpdates } from '../tasks/update-branch.ts'
import { comments, type Comments } from '../core/comment-records.ts'
import type { Tx } from '../core/event-feed.ts'
import { createSignal } from '../core/signal.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { notify, type NotificationDraft } from '../core/notify.ts'
import { createViews, type Views } from '../core/views.ts'
import { createWorktrees, type Worktrees } from '../workspaces/worktrees.ts'

export interface Engine {
  readonly projectDeletions: Pick<ProjectDeletions, 'delete'>
  readonly actions: Actions
  readonly claims: Claims
  readonly executions: Executions
  readonly scheduler: Scheduler
  readonly landing: Landing
  readonly readyStarts: ReadyStarts
  readonly authority: Authority
  readonly stacks: Pick<Stacks, 'look'>
  readonly limits: RunLimits
  readonly remoteRuns: RemoteRuns
  readonly runners: Omit<Runners, 'start' | 'close' | 'markUnreachable'>
  readonly accountOf: typeof accountOf
  readonly limitView: typeof limitView
  readonly limitedUntil: (q: Queries, agent: AgentRecord | null) => string | null
  readonly worktrees: Worktrees
  readonly cleanup: Cleanup
  readonly rescues: Rescues
  readonly orphans: Orphans
  readonly repositories: Repositories
  readonly branches: BranchUpdates
  readonly mergeUndo: Pick<MergeUndo, 'undo' | 'revert'>
  readonly suggestions: Suggestions
  readonly pullRequests: PullRequests
  /** Creates a notification in the caller's transaction. */
  readonly notify: (tx: Tx, task: Parameters<typeof notify>[2], notice: NotificationDraft) => void
  readonly worker: OutboxWorker
  readonly hooks: Hooks
  /** By plugin: returns the problem of a `config`, or null. */
  readonly plugins: PluginChecks
  readonly views: Views
  readonly comments: Comments
  readonly attachments: Attachments
  readonly prompts: Prompts
  /** Repairs what a crash left; must run first. */
  recover(): Promise<void>
  /** Starts pending effects and the queue. The API's address, which agents get, is known by now. */
  start(): void
  /** Stops every agent and aborts running work; the rest is left for the next start. */
  close(): Promise<void>
}

/** Creates the engine's parts, with further plugins beside the built-in ones; nothing runs before `start`. */
export function createEngine(context: EngineContext, more: readonly Plugin[] = []): Engine {
  const transitions = createTransitions(context)
  const worktrees = createWorktrees(context)
  const basis = { context, transitions, worktrees }
  /** A task has new pending steps. */
  const stepsPending = createSignal<[TaskId]>()
  /** A slot or a worktree is free. */
  const freed = createSignal<[]>()
  /** A task's steps have gone on, so that its hooks may run; it may be done now, or others be ready. */
  const wentOn = createSignal<[TaskId]>()
  const plugins = new Map<string, Plugin>()
  const { executions, limits, scheduler, remoteRuns, runners } = createRuns(basis, stepsPending.tell, freed.tell)
  const { dispatch, startQueued } = scheduler
  const lifecycle = createLifecycle({
    ...basis,
    plugins,
    waitUntilIdle: (task_id, signal) => executions.waitUntilIdle(task_id, shutdownGraceMs, signal),
  })
  const { hooks, runs, hookQueue } = lifecycle
  const stopAll = (task_id: TaskId) => stopOpen(context, executions, task_id)
  const cleanup = createCleanup({ ...basis, endAll: endAllOf(hookQueue, stopAll) })
  const rescues = createRescues(context, worktrees)
  const landing = createLanding(context)
  const baseConflicts = createBaseConflicts(context, transitions)
  const overlaps = createOverlaps(context, transitions, baseConflicts.touch)
  const steps = {
    ...basis,
    plugins,
    runs,
    hookQueue,
    limits,
    dispatch,
    cleanUp: (task: TaskRecord, state: string, signal: AbortSignal) => cleanup.enter(task, state, signal),
  } satisfies StepServices
  const worker = createOutboxWorker({
    context,
    transitions,
    perform: createPerformStep(steps),
    wakeHooks: wentOn.tell,
    onStateLeft: (task_id, state) => stopRoleOf({ context, transitions, executions }, task_id, state),
  })
  const tasks = createTasks({ ...steps, worker, scheduler, landing, executions, cleanup })
  addPlugins(plugins, { ...basis, ...tasks, landing, executions, scheduler, cleanup, worker, stopAll }, more)
  stepsPending.listen(worker.wake)
  wentOn.listen(hookQueue.wake)
  wentOn.listen((task_id) => {
    tasks.lookForWork(task_id)
    tasks.pullRequests.touch(task_id)
    overlaps.look()
    baseConflicts.look()
  })
  freed.listen(startQueued)
  freed.listen(() => tasks.stacks.look())
  freed.listen(baseConflicts.look)
  /** Starts runs that waited for a slot or a resume. */
  const startWaiting = () => {
    startQueued()
    tasks.lookForWork()
    overlaps.look()
    baseConflicts.look()
  }
  const upkeep = { ...steps, cleanup, rescues, executions, remoteRuns, worker }
  const { attachments, projectDeletions, sweeps } = createUpkeep({ ...upkeep, onSlotFreed: startWaiting })
  const runtime = { ...tasks, steps, lifecycle, landing, overlaps, baseConflicts }
  return {
    ...tasks,
    executions,
    scheduler: { ...scheduler, startQueued: startWaiting },
    landing,
    limits,
    remoteRuns,
    runners,
    projectDeletions,
    worktrees,
    cleanup,
    rescues,
    worker,
    hooks,
    plugins: pluginRules(plugins),
    attachments,
    ...createReaders(context, worktrees, executions),
    ...createRuntime({ ...runtime, worker, scheduler, executions, sweeps, projectDeletions, runners }),
  }
}

/** Creates what changes tasks, for those who ask and by itself. */
function createTasks(
  deps: EngineSteps &
    Pick<RuntimeParts, 'worker' | 'scheduler' | 'landing' | 'executions'> & { readonly cleanup: Cleanup },
) {
  const claims = createClaims(deps)
  const readyStarts = createReadyStarts(deps, claims)
  const wipPulls = createWipPulls({ ...deps, claims })
  const actions = createActions({ ...deps, claims })
  const brought = createSignal<[TaskId]>()
  const stacks = createStacks({ ...deps, actions, onBrought: brought.tell })
  const lookForWork = (task_id?: TaskId) => {
    readyStarts.look()
    stacks.look(task_id)
    wipPulls.look(task_id)
  }
  const branches = createBranchUpdates({ ...deps, actions })
  const mergeUndo = createMergeUndo({ ...deps, claims })
  const authority = createAuthority(deps.context)
  const suggestions = createSuggestions(deps)
  const pullRequests = createPullRequests({ ...deps, actions, branches })
  brought.listen(pullRequests.followStack)
  return {
    claims,
    readyStarts,
    wipPulls,
    actions,
    stacks,
    branches,
    mergeUndo,
    suggestions,
    pullRequests,
    authority,
    lookForWork,
  }
}

/** Stops all work on a task after its end hooks have run. */
function endAllOf(hookQueue: StepServices['hookQueue'], stopAll: (task_id: TaskId) => Promise<void>) {
  return async (task_id: TaskId, signal: AbortSignal): Promise<void> => {
    await hookQueue.waitUntilDrained(task_id, ['on_task_done', 'on_task_cancel'], signal)
    signal.throwIfAborted()
    await Promise.all([hookQueue.end(task_id), stopAll(task_id)])
  }
}

/** Creates what tidies up: files of tasks, deleted projects, and the sweeps. */
function createUpkeep(parts: Omit<SweepParts, 'attachments'> & Pick<RuntimeParts, 'worker'> & EngineSteps) {
  const { context, hookQueue, worker } = parts
  const attachments = createAttachments(context)
  const projectDeletions = createProjectDeletions({ context, hookQueue, worker })
  return { attachments, projectDeletions, sweeps: createSweeps({ ...parts, attachments }) }
}

/** Creates the parts that read and change no task. */
function createReaders(context: EngineContext, worktrees: Worktrees, executions: Executions) {
  return {
    accountOf,
    limitView,
    limitedUntil: (q: Queries, agent: AgentRecord | null) => limitedUntil(q, agent, nowIso(context)),
    prompts: createPrompts(context, worktrees),
    orphans: createOrphans(context, worktrees),
    repositories: createRepositories(context, worktrees),
    comments,
    notify: (tx: Tx, task: Parameters<typeof notify>[2], notice: NotificationDraft) => {
      notify(context, tx, task, notice)
    },
    views: createViews(context.store.read, (id) => executions.running().get(id)?.asks.pending() ?? []),
  }
}

/** Creates the parts that start agents and enforce their limits. */
function createRuns(
  basis: Pick<EngineSteps, 'context' | 'transitions' | 'worktrees'>,
  wake: (task_id: TaskId) => void,
  onSlotFreed: () => void,
) {
  const { context, transitions } = basis
  const runs: ExecutionsDeps['runs'] = new Map()
  const limits = createRunLimits(context, () => runs.values())
  const runsOn = (id: RunnerId) => [...runs.values()].filter(({ record }) => record.runner_id === id).length
  const runners = createRunners({ context, runsOn, onChanged: onSlotFreed })
  const onRunnerUnreachable = runners.markUnreachable
  const executions = createExecutions({ ...basis, runs, limits, wake, onSlotFreed, onRunnerUnreachable })
  const scheduler = createScheduler({ context, transitions, executions, limits })
  const remoteRuns = createRemoteRuns(context, { executions, limits })
  return { executions, limits, scheduler, remoteRuns, runners }
}

/** Adds the built-in and further plugins by name. */
function addPlugins(
  plugins: Map<string, Plugin>,
  parts: Pick<PluginServices, 'context' | 'transitions' | 'worktrees' | 'landing' | 'cleanup'> &
    Pick<RuntimeParts, 'executions' | 'scheduler' | 'worker' | 'stacks' | 'pullRequests'> & {
      readonly stopAll: (task_id: TaskId) => Promise<void>
    },
  more: readonly Plugin[],
): void {
  const { executions, scheduler, worker, stacks, pullRequests, stopAll, ...rest } = parts
  const { isWorktreeShared, waitUntilIdle, waitUntilExclusive } = executions
  const builtin = createPlugins({
    ...rest,
    isWorktreeShared,
    waitUntilIdle,
    waitUntilExclusive,
    dispatch: scheduler.dispatch,
    follow: async (task_id) => {
      worker.interrupt(task_id)
      await stopAll(task_id)
      worker.wake(task_id)
    },
    bringAlong: stacks.bringAlong,
    openPull: pullRequests.openAtGate,
  })
  for (const [name, plugin] of builtin) plugins.set(name, plugin)
  for (const plugin of more) plugins.set(plugin.name, plugin)
}

/** The steps with all that the engine has. */
interface EngineSteps extends StepServices {
  readonly context: EngineContext
}

interface RuntimeParts {
  readonly overlaps: Overlaps
  readonly baseConflicts: BaseConflicts
  readonly landing: Landing
  readonly readyStarts: ReadyStarts
  readonly stacks: Stacks
  readonly mergeUndo: MergeUndo
  readonly pullRequests: PullRequests
  readonly wipPulls: WipPulls
  readonly lookForWork: () => void
  readonly steps: EngineSteps
  readonly lifecycle: Lifecycle
  readonly worker: OutboxWorker
  readonly scheduler: Scheduler
  readonly executions: Executions
  readonly runners: Runners
  readonly sweeps: Sweeps
  readonly projectDeletions: ProjectDeletions
}

/** Returns how the parts start and stop, in order. */
function createRuntime(parts: RuntimeParts): Pick<Engine, 'recover' | 'start' | 'close'> {
  const {
    steps,
    lifecycle,
    landing,
    overlaps,
    baseConflicts,
    readyStarts,
    stacks,
    mergeUndo,
    pullRequests,
    wipPulls,
    worker,
    scheduler,
    executions,
    sweeps,
    projectDeletions,
    runners,
  } = parts
  const { context, hookQueue } = steps
  const { read } = context.store
  return {
    recover: async () => {
      await recover(steps, executions.takeUp)
      await mergeUndo.recover()
      await lifecycle.recover()
    },
    start: () => {
      // First, so that nothing is started for deleted projects.
      projectDeletions.start()
      for (const task_id of read.effects.pendingTasks()) worker.wake(task_id)
      for (const task_id of read.pendingHooks.pendingTasks()) hookQueue.wake(task_id)
      scheduler.startQueued()
      parts.lookForWork()
      overlaps.start()
      baseConflicts.start()
      pullRequests.start()
      sweeps.start()
      runners.start()
      context.log.info({ at: nowIso(context) }, 'the engine has started')
    },
    close: async () => {
      context.writes.close()
      const ended = [sweeps.close(), projectDeletions.close(), runners.close()]
      scheduler.close()
      await Promise.all([readyStarts.close(), stacks.close(), wipPulls.close()])
      await pullRequests.stop()
      await worker.close()
      await landing.close()
      await overlaps.close()
      await baseConflicts.close()
      await hookQueue.close()
      await executions.close()
      await Promise.all(ended)
    },
  }
}
