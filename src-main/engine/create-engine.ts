import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { HookRun, PluginInfo } from '../../src-shared/contract/lifecycle-hooks.ts'
import { createActions, type Actions } from './actions.ts'
import { createClaims, type Claims } from './claims.ts'
import { createCleanup, type Cleanup } from './cleanup.ts'
import { roleOf } from '../domain/workflow/graph.ts'
import { nowIso, type EngineContext } from './context.ts'
import { createEffectWorker, type EffectWorker } from './effects.ts'
import { createExecutions, goodbyeMs, type Executions } from './executions.ts'
import { createHookRuns, type HookRuns } from './lifecycle/hook-runs.ts'
import { testHook, type HookTest } from './lifecycle/test-hook.ts'
import { createOccasions, type Occasions } from './lifecycle/occasions.ts'
import { createPerformStep, type StepDeps } from './perform-step.ts'
import { abandon } from './move-task.ts'
import { createOrphans, type Orphans } from './orphans.ts'
import { createPlugins, pluginInfos, pluginRules } from './plugins/create-plugins.ts'
import type { Plugin } from './plugins/plugin.ts'
import { recover } from './recovery.ts'
import { createRepositories, type Repositories } from './repositories.ts'
import { createRescues, type Rescues } from './rescues.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import { createSweeps } from './sweeps.ts'
import { createTransitions } from './transitions.ts'
import { createBranchUpdates, type BranchUpdates } from './update-branch.ts'
import { createViews, type Views } from './views.ts'
import { createWorktrees, type Worktrees } from './worktrees.ts'

export interface Engine {
  readonly actions: Actions
  readonly claims: Claims
  readonly executions: Executions
  readonly scheduler: Scheduler
  readonly worktrees: Worktrees
  readonly cleanup: Cleanup
  readonly rescues: Rescues
  readonly orphans: Orphans
  readonly repositories: Repositories
  readonly branches: BranchUpdates
  readonly worker: EffectWorker
  /** The runs of hooks that are under way. */
  readonly hooks: Pick<HookRuns, 'running'>
  /** By plugin: what is wrong with a `config` for it; null when nothing is. */
  readonly plugins: ReadonlyMap<string, (config: unknown) => string | null>
  readonly pluginInfos: readonly PluginInfo[]
  /** Runs one hook in a worktree that is thrown away, and keeps nothing of it. */
  testHook(test: HookTest, signal: AbortSignal): Promise<HookRun>
  /** Drops what the tasks of a project have still to do, and waits for what is under way to give up. */
  abandonAll(project_id: ProjectId): Promise<void>
  readonly views: Views
  /** Puts right what a crash left; before anything else. */
  recover(): Promise<void>
  /** Takes up the pending effects and the queue; the API's address is known by now, so that agents can be told. */
  start(): void
  /** Ends every agent, lets what is under way give up, and leaves the rest for the next start. */
  close(): Promise<void>
}

/** Wires the engine's parts together, and plugins beside the built-in ones; nothing runs before `start`. */
export function createEngine(context: EngineContext, more: readonly Plugin[] = []): Engine {
  const transitions = createTransitions(context)
  const worktrees = createWorktrees(context)
  const executions: Executions = createExecutions({
    context,
    transitions,
    worktrees,
    wake: (task_id) => {
      worker.wake(task_id)
    },
    freed: () => {
      scheduler.pump()
    },
  })
  const scheduler = createScheduler({ context, transitions, executions: () => executions })
  const stopAll = (task_id: TaskId) => stopOpen(context, executions, task_id)
  const endAll = async (task_id: TaskId, signal: AbortSignal) => {
    await occasions.settled(task_id, ['on_task_done', 'on_task_cancel'], signal)
    signal.throwIfAborted()
    await Promise.all([occasions.end(task_id), stopAll(task_id)])
  }
  const cleanup = createCleanup({ context, transitions, worktrees, endAll })
  const rescues = createRescues(context, worktrees)
  const builtin = createPlugins({
    context,
    transitions,
    worktrees,
    whenIdle: (...idle) => executions.whenIdle(...idle),
    isShared: (task_id) => executions.isShared(task_id),
    whenAlone: (...alone) => executions.whenAlone(...alone),
    dispatch: scheduler.dispatch,
    follow: async (task_id) => {
      worker.interrupt(task_id)
      await stopAll(task_id)
      worker.wake(task_id)
    },
    cleanup,
  })
  const plugins = new Map([...builtin, ...more.map((plugin) => [plugin.name, plugin] as const)])
  const { dispatch } = scheduler
  const runs = createHookRuns(context)
  const occasions: Occasions = createOccasions({
    ...{ context, transitions, worktrees, plugins, runs },
    whenIdle: (task_id, signal) => executions.whenIdle(task_id, goodbyeMs, signal),
  })
  const steps: StepDeps = {
    ...{ context, transitions, worktrees, plugins, runs, occasions, dispatch },
    cleanUp: (task, state, signal) => cleanup.enter(task, state, signal),
  }
  const worker: EffectWorker = createEffectWorker({
    context,
    transitions,
    perform: createPerformStep(steps),
    wakeHooks: (task_id) => {
      occasions.wake(task_id)
    },
    left: (task_id, state) => stopRoleOf({ context, transitions, executions }, task_id, state),
  })
  const claims = createClaims({ steps, worker, scheduler })
  const actions = createActions({ steps, worker, executions, scheduler, claims, cleanup })
  const sweeps = createSweeps({ steps, cleanup, rescues })
  return {
    actions,
    claims,
    executions,
    scheduler,
    worktrees,
    cleanup,
    rescues,
    orphans: createOrphans(context, worktrees),
    repositories: createRepositories(context, worktrees),
    branches: createBranchUpdates({ steps, worker, actions }),
    worker,
    hooks: runs,
    plugins: pluginRules(plugins),
    pluginInfos: pluginInfos(plugins),
    testHook: (test, signal) => testHook({ context, plugins }, test, signal),
    abandonAll: (project_id) => abandonAll({ steps, worker }, project_id),
    views: createViews(context.store.read),
    recover: async () => {
      await recover(steps)
      await occasions.recover()
      await context.scripts.reap(context.config.hookTestMark)
    },
    start: () => {
      for (const task_id of context.store.read.effects.pendingTasks()) worker.wake(task_id)
      for (const task_id of context.store.read.occasions.pendingTasks()) occasions.wake(task_id)
      scheduler.pump()
      sweeps.start()
      context.log.info({ at: nowIso(context) }, 'the engine has started')
    },
    close: async () => {
      const swept = sweeps.close()
      scheduler.close()
      await worker.close()
      await occasions.close()
      await executions.close()
      await swept
    },
  }
}

async function abandonAll(
  deps: { readonly steps: StepDeps; readonly worker: EffectWorker },
  project_id: ProjectId,
): Promise<void> {
  const { read } = deps.steps.context.store
  const pending = read.effects.pendingTasks().filter((id) => read.tasks.get(id)?.project_id === project_id)
  await Promise.all(pending.map((task_id) => abandon(deps, task_id)))
}

/** Ends what works for a state that a hook took the task out of. Never rejects. */
async function stopRoleOf(
  { context, transitions, executions }: Pick<StepDeps, 'context' | 'transitions'> & { readonly executions: Executions },
  task_id: TaskId,
  left: string,
): Promise<void> {
  const { read } = context.store
  const task = read.tasks.get(task_id)
  const state = task && transitions.workflowOf(read, task).states.get(left)
  const role = state && roleOf(state)
  const open = read.executions.openOfTask(task_id).filter((record) => record.role === role)
  try {
    await Promise.all(open.map((record) => executions.stop(record.id, 'cancelled')))
  } catch (error) {
    context.log.error({ err: error, task_id }, 'an execution whose task moved on could not be ended')
  }
}

/** Ends whatever is open for a task: what waits is taken out of the queue, what runs is stopped. */
export async function stopOpen(context: EngineContext, executions: Executions, task_id: TaskId): Promise<void> {
  const open = context.store.read.executions.openOfTask(task_id)
  await Promise.all(open.map((record) => executions.stop(record.id, 'cancelled')))
}
