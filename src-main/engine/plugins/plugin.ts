import type { z } from 'zod'
import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { ErrorAnnotation } from '../../../src-shared/contract/tasks.ts'
import type { HookPhase, WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import type { Workflow } from '../../domain/workflow/graph.ts'
import type { ProjectRecord, TaskRecord, WorkspaceRecord } from '../store-port.ts'

/** What a plugin knows of the moment it runs in. */
export interface PluginContext {
  readonly task: TaskRecord
  readonly project: ProjectRecord
  readonly workflow: Workflow
  readonly state: WorkflowState
  readonly phase: HookPhase
  readonly triggered_by: string
  readonly workspace: WorkspaceRecord | null
  readonly config: Readonly<Record<string, unknown>>
  /** The mark for scripts that the plugin starts. */
  readonly mark: () => string
  readonly signal: AbortSignal
}

/** Why there was nothing to do. The first three say that what a later hook builds on is missing. */
export const missingContext = ['no_workspace', 'no_agent_run', 'no_execution'] as const
export type SkipReason =
  | (typeof missingContext)[number]
  | 'no_role'
  | 'no_agent'
  | 'person'
  | 'audience'
  | 'unsupported_event'
  | 'superseded'
  | 'review_not_passed'
  | 'no_repository'
  | 'not_needed'
  | 'disabled'

export type PluginResult =
  | { readonly kind: 'ok'; readonly note?: string }
  /** What it needs is missing: no failure, no event. */
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  | { readonly kind: 'failed'; readonly reason: string; readonly annotation?: ErrorAnnotation }
  /** The gate says no: the task goes to its reject target with this feedback. */
  | { readonly kind: 'rejected'; readonly feedback: string }

export interface Plugin {
  readonly name: string
  readonly phases: readonly HookPhase[]
  /** What its `config` may hold; `run` gets what this parsed. */
  readonly options: z.ZodType<Readonly<Record<string, unknown>>>
  /** Asked before a transition into a state with this plugin is committed. */
  guard?(context: Omit<PluginContext, 'phase' | 'config' | 'mark'>): Promise<Refusal | null>
  /** Must be safe to run again: a crash may come between its work and the note that it is done. */
  run(context: PluginContext): Promise<PluginResult>
}
