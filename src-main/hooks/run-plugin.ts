import type { HookPhase } from '../../src-shared/contract/workflow-definition.ts'
import type { Ground } from '../core/ground.ts'
import type { StepContext } from '../transitions/step.ts'
import type { Transitions } from '../transitions/transitions.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { workspaceOf } from '../core/workspace-of.ts'
import type { Plugin } from './plugin.ts'
import type { PluginResult } from '../core/plugin-result.ts'

/** The event or phase for which a hook names a plugin. */
export interface PluginCall {
  readonly phase: HookPhase
  /** The state that it runs for, and the one the task came from. */
  readonly state: string
  readonly from: string
  readonly triggered_by: string
  readonly config: unknown
  /** A person wants the task to land although the checks of its base branch fail. */
  readonly on_red?: boolean
}

/** Runs a plugin for a task with the options that its hook gives it; null when the task's project or the state is gone. */
export async function runPlugin(
  { context, transitions }: { readonly context: Ground; readonly transitions: Pick<Transitions, 'workflowOf'> },
  plugin: Plugin,
  task: TaskRecord,
  call: PluginCall,
  run: StepContext,
): Promise<PluginResult | null> {
  const { read } = context.store
  const project = read.projects.get(task.project_id)
  const workflow = project && transitions.workflowOf(read, task)
  const state = workflow?.states.get(call.state)
  if (!project || !workflow || !state) return null
  const options = plugin.options.safeParse(call.config ?? {})
  if (!options.success) {
    return { kind: 'failed', reason: `Invalid options: ${options.error.issues[0]?.message ?? 'wrong shape'}` }
  }
  const workspace = workspaceOf(read, task)
  return await plugin.run({ ...call, task, project, workflow, state, workspace, config: options.data, ...run })
}
