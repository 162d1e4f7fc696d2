import type { HookRun, PluginInfo } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { useClient } from '../base/client.ts'

/** The hook runs and the plugins: too large or too rarely needed for a store. */
export function useHooks() {
  const client = useClient()
  return {
    /** Returns the newest `limit` runs of a task's hooks, newest first, including running ones. */
    runs: async (taskId: string, limit: number): Promise<readonly HookRun[]> =>
      (await client.call('tasks.hook_runs', { task_id: taskId, limit })).items,
    plugins: async (): Promise<readonly PluginInfo[]> => (await client.call('plugins.list', {})).items,
    /** Runs one hook for real in a temporary worktree. Resolves when it has ended. */
    test: (input: OperationInput<'projects.test_hook'>): Promise<HookRun> => client.call('projects.test_hook', input),
  }
}
