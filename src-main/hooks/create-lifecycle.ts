import type { HookRun, PluginInfo } from '../../src-shared/contract/lifecycle-hooks.ts'
import { pluginInfos } from './plugin.ts'
import { createHookRuns, type HookRuns } from './hook-runs.ts'
import { createHookQueue, type HookQueue, type HookQueueDeps } from './hook-queue.ts'
import { testHook, type HookTest } from './test-hook.ts'

/** What clients see of hooks. */
export interface Hooks extends Pick<HookRuns, 'running'> {
  readonly plugins: readonly PluginInfo[]
  /** Runs one hook in a worktree that is thrown away, and keeps nothing of it. */
  test(test: HookTest, signal: AbortSignal): Promise<HookRun>
}

export interface Lifecycle {
  readonly hooks: Hooks
  readonly runs: HookRuns
  readonly hookQueue: HookQueue
  /** Puts right what a killed service left of hooks. */
  recover(): Promise<void>
}

/** Wires what runs the hooks of a project. */
export function createLifecycle(deps: Omit<HookQueueDeps, 'runs'>): Lifecycle {
  const { context, plugins } = deps
  const runs = createHookRuns(context)
  const hookQueue = createHookQueue({ ...deps, runs })
  return {
    hooks: {
      running: runs.running,
      plugins: pluginInfos(plugins),
      test: (test, signal) => testHook(deps, test, signal),
    },
    runs,
    hookQueue,
    recover: hookQueue.recover,
  }
}
