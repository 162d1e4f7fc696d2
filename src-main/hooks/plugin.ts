import { z } from 'zod'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { HookEvent, PluginInfo } from '../../src-shared/contract/lifecycle-hooks.ts'
import type { HookPhase, StateTrait, WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import type { Workflow } from '../domain/workflow/graph.ts'
import type { Cleanup } from '../workspaces/cleanup.ts'
import type { LandingGround } from '../landing/landing-ground.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import type { Work } from '../ports/work-keeper.ts'
import type { PluginResult } from '../core/plugin-result.ts'
import type { Transitions } from '../transitions/transitions.ts'
import type { Landing } from '../landing/landing.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'

/** What a plugin gets for its run. */
export interface PluginContext {
  readonly task: TaskRecord
  readonly project: ProjectRecord
  readonly workflow: Workflow
  readonly state: WorkflowState
  readonly phase: HookPhase
  /** The state that the task came from. */
  readonly from: string
  readonly triggered_by: string
  /** A person wants the task to land although the checks of its base branch fail. */
  readonly on_red?: boolean
  readonly workspace: WorkspaceRecord | null
  readonly config: Readonly<Record<string, unknown>>
  /** Returns the process marker for scripts that the plugin starts. */
  readonly processMarker: () => string
  readonly signal: AbortSignal
}

interface GuardContext extends Omit<PluginContext, 'phase' | 'from' | 'config' | 'processMarker'> {
  /** The tree that the caller vouches for, as just read; null if it vouches for none. */
  readonly vouched: string | null
}

/** The description of a plugin, known before it runs. */
interface PluginDeclaration {
  readonly name: string
  /** Its purpose in a sentence. */
  readonly purpose: string
  readonly phases: readonly HookPhase[]
  /** The lifecycle events at which a project may name it too. */
  readonly events: readonly HookEvent[]
  /** The schema of its `config`; `run` gets the parsed value. */
  readonly options: z.ZodType<Readonly<Record<string, unknown>>>
  /**
   * Its meaning for a state whose hooks name it at one of its `phases`. Code asks for traits, never for a plugin's
   * name.
   */
  readonly traits: readonly StateTrait[]
}

interface PluginWork {
  /** Called before a transition into a state with this plugin is committed. Returns the work that it has checked. */
  guard?(context: GuardContext): Promise<Refusal | { readonly work: Work } | null>
  /** Must be safe to repeat: after a crash between its work and the saving of its result it runs again. */
  run(context: PluginContext): PluginResult | Promise<PluginResult>
}

/**
 * A hook that is built in, or that a test adds. For example the one that merges: its `guard` refuses the move into
 * `merging` while the work is another than the judged one, its `run` merges, and its trait `merges` tells the board and
 * the API, which never ask for its name.
 */
export interface Plugin extends PluginDeclaration, PluginWork {}

/** A plugin without the services that it needs to run. */
export interface PluginDefinition extends PluginDeclaration {
  readonly create: (services: PluginServices) => PluginWork
}

/** The services that plugins may use beside reading their task. */
export interface PluginServices {
  readonly context: LandingGround & { readonly cleanupDelaySeconds: number }
  readonly transitions: Transitions
  readonly worktrees: Worktrees
  readonly landing: Landing
  /** Waits until an agent that submitted its own work has ended its turn. */
  readonly waitUntilIdle: (task_id: TaskId, limit_ms: number, signal: AbortSignal) => Promise<void>
  /** Returns whether another task has a run in this task's worktree. */
  readonly isWorktreeShared: (task_id: TaskId) => boolean
  /** Waits until other tasks that share the worktree have ended their runs there. */
  readonly waitUntilExclusive: (task_id: TaskId, signal: AbortSignal) => Promise<void>
  /** Starts a run for the holder of the state's role. */
  readonly dispatch: (task: TaskRecord) => Promise<PluginResult>
  /** Called after another task was moved: ends its superseded runs and starts the steps that follow. */
  readonly follow: (task_id: TaskId) => Promise<void>
  readonly cleanup: Pick<Cleanup, 'now' | 'later'>
  /** Opens or updates the task's pull request; what it waits for is shown on the task. */
  readonly openPull: (
    task_id: TaskId,
    wish: { readonly draft: boolean | null; readonly triggered_by: string },
    signal: AbortSignal,
  ) => Promise<PluginResult>
  /** Brings the branch of a stacked task to where it is to lie, if that can be done now. */
  readonly bringAlong: (task_id: TaskId, signal: AbortSignal) => Promise<void>
}

/** Returns the descriptions of the plugins for the editors. */
export function pluginInfos(plugins: ReadonlyMap<string, Plugin>): readonly PluginInfo[] {
  return [...plugins.values()].map(({ name, purpose, phases, events, options }) => ({
    name,
    purpose,
    phases: [...phases],
    events: [...events],
    options: z.toJSONSchema(options, { io: 'input' }),
  }))
}
