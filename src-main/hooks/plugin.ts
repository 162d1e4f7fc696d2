import { z } from 'zod'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { HookEvent, PluginInfo } from '../../src-shared/contract/lifecycle-hooks.ts'
import type { HookPhase, StateTrait, WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import type { Workflow } from '../domain/workflow/graph.ts'
import type { Cleanup } from '../workspaces/cleanup.ts'
import type { EngineContext } from '../core/context.ts'
import type { ProjectRecord, TaskRecord, WorkspaceRecord } from '../ports/store.ts'
import type { Work } from '../ports/workspaces.ts'
import type { PluginResult } from '../core/plugin-result.ts'
import type { Transitions } from '../transitions/transitions.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'

/** What a plugin knows of the moment it runs in. */
export interface PluginContext {
  readonly task: TaskRecord
  readonly project: ProjectRecord
  readonly workflow: Workflow
  readonly state: WorkflowState
  readonly phase: HookPhase
  /** The state that the task came from. */
  readonly from: string
  readonly triggered_by: string
  readonly workspace: WorkspaceRecord | null
  readonly config: Readonly<Record<string, unknown>>
  /** The mark for scripts that the plugin starts. */
  readonly processMarker: () => string
  readonly signal: AbortSignal
}

export interface GuardContext extends Omit<PluginContext, 'phase' | 'from' | 'config' | 'processMarker'> {
  /** The tree of the work that the caller's word is about, as it was just looked up; null where it is about none. */
  readonly vouched: string | null
}

/** What there is to say of a plugin before it runs. */
export interface PluginDeclaration {
  readonly name: string
  /** What it is for, in a sentence. */
  readonly purpose: string
  readonly phases: readonly HookPhase[]
  /** The lifecycle events at which a project may name it too. */
  readonly events: readonly HookEvent[]
  /** What its `config` may hold; `run` gets what this parsed. */
  readonly options: z.ZodType<Readonly<Record<string, unknown>>>
  /** What it means for a state whose hooks name it at one of its `phases`. Everything asks for these, not for its name. */
  readonly traits: readonly StateTrait[]
}

export interface PluginWork {
  /** Asked before a transition into a state with this plugin is committed. Answers the work that it found in order. */
  guard?(context: GuardContext): Promise<Refusal | { readonly work: Work } | null>
  /** Must be safe to run again: a crash may come between its work and the note that it is done. */
  run(context: PluginContext): PluginResult | Promise<PluginResult>
}

export interface Plugin extends PluginDeclaration, PluginWork {}

/** A plugin before the services are there that it works with. */
export interface PluginDefinition extends PluginDeclaration {
  readonly create: (services: PluginServices) => PluginWork
}

/** What plugins may do beside looking at the task that they run for. */
export interface PluginServices {
  readonly context: EngineContext
  readonly transitions: Transitions
  readonly worktrees: Worktrees
  /** Lets an agent that submitted its own work finish its sentence first. */
  readonly waitUntilIdle: (task_id: TaskId, limit_ms: number, signal: AbortSignal) => Promise<void>
  /** Whether another task is at work in the worktree of this one. */
  readonly isWorktreeShared: (task_id: TaskId) => boolean
  /** Lets other tasks that share the worktree finish what they write there. */
  readonly waitUntilExclusive: (task_id: TaskId, signal: AbortSignal) => Promise<void>
  /** Starts whoever has the role of the task's state. */
  readonly dispatch: (task: TaskRecord) => Promise<PluginResult>
  /** After another task was moved: ends what it had under way and takes up what follows for it. */
  readonly follow: (task_id: TaskId) => Promise<void>
  readonly cleanup: Pick<Cleanup, 'now' | 'later'>
}

/** What the editors show of the plugins. */
export function pluginInfos(plugins: ReadonlyMap<string, Plugin>): readonly PluginInfo[] {
  return [...plugins.values()].map(({ name, purpose, phases, events, options }) => ({
    name,
    purpose,
    phases: [...phases],
    events: [...events],
    options: z.toJSONSchema(options, { io: 'input' }),
  }))
}
