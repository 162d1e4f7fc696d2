import type { Ground } from '../core/ground.ts'
import type { HookQueue } from '../hooks/hook-queue.ts'
import type { HookRuns } from '../hooks/hook-runs.ts'
import type { Plugin } from '../hooks/plugin.ts'
import type { PluginResult } from '../core/plugin-result.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { LimitCheck } from '../core/limit-check.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'
import type { Transitions } from '../transitions/transitions.ts'

/** The services used by the steps of a transition and by the actions that cause transitions. */
export interface StepServices {
  readonly context: Ground
  readonly transitions: Transitions
  readonly worktrees: Worktrees
  readonly plugins: ReadonlyMap<string, Plugin>
  readonly runs: HookRuns
  readonly hookQueue: HookQueue
  readonly limits: LimitCheck
  readonly dispatch: (task: TaskRecord) => Promise<PluginResult>
  readonly cleanUp: (task: TaskRecord, state: string, signal: AbortSignal) => Promise<void>
}
