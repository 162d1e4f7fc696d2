import type { HookRun, PluginInfo } from '../../src-shared/contract/lifecycle-hooks.ts'
import { pluginInfos } from './plugin.ts'
import { createHookRuns, type HookRuns } from './hook-runs.ts'
import { createHookQueue, type HookQueue, type HookQueueDeps } from './hook-queue.ts'
import { testHook, type HookTest } from './test-hook.ts'

/** The hook operations of the API. */
export interface Hooks extends Pick<HookRuns, 'running'> {
  readonly plugins: readonly PluginInfo[]
  /** Runs one hook in a temporary worktree and keeps nothing of it. */
  test(test: HookTest, signal: AbortSignal): Promise<HookRun>
}

export interface Lifecycle {
  readonly hooks: Hooks
  readonly runs: HookRuns
  readonly hookQueue: HookQueue
  /** Cleans up what a killed service left of hooks. */
  recover(): Promise<void>
}

/** Creates the services that run a project's hooks. */
export function createLifecycle(deps: Omit<HookQueueDeps, 'runs'>): Lifecycle {
  const { context, plugins } = deps
  const runs = createHookRuns(context)
  let infos: Hooks['plugins'] | null = null
  const hookQueue = createHookQueue({ ...deps, runs })
  return {
    hooks: {
      running: runs.running,
      // Plugins are added once all parts exist.
      get plugins() {
        return (infos ??= pluginInfos(plugins))
      },
      test: (test, signal) => testHook(deps, test, signal),
    },
    runs,
    hookQueue,
    recover: hookQueue.recover,
  }
}
