import type { HookPhase, StateHook } from '../../src-shared/contract/workflow-definition.ts'
import type { Effect } from '../domain/transition/effects.ts'
import { hooksAt, type Workflow } from '../domain/workflow/graph.ts'
import type { StepContext } from '../transitions/step.ts'
import { runScriptHook } from '../hooks/script-hook.ts'
import { scriptPlace } from '../hooks/script-place.ts'
import type { StepServices } from './step-services.ts'
import type { PluginResult } from '../core/plugin-result.ts'
import { scriptContainmentOf } from '../core/script-containment.ts'
import { redactorOf } from '../core/redactor-of.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/** Used for a script without `timeout_seconds`. */
const defaultTimeoutSeconds = 30

/** Runs a state hook's inline script in the worktree, or in the repository's root when there is none. */
export async function runStateScript(
  deps: Pick<StepServices, 'context' | 'transitions' | 'worktrees' | 'runs'>,
  task: TaskRecord,
  hook: StateHook & { script: string },
  phase: HookPhase,
  { from, to }: Pick<Effect, 'from' | 'to'>,
  { signal, processMarker }: StepContext,
): Promise<PluginResult> {
  const { context, transitions, runs } = deps
  const { read } = context.store
  const { cwd, env } = await scriptPlace(deps, task, phase, { previous_status: from })
  if (cwd === null) return { kind: 'skipped', reason: 'no_repository' }
  const redact = redactorOf(context, read, task.project_id)
  const containment = scriptContainmentOf(read, task.project_id)
  const timeout_seconds = hook.timeout_seconds ?? defaultTimeoutSeconds
  const state = phase === 'before_exit' || phase === 'on_exit' ? from : to
  const start = {
    event: phase,
    index: hookIndex(transitions.workflowOf(read, task), state, phase, hook),
    type: 'script' as const,
    command: hook.script,
    blocking: phase === 'before_exit' || (phase === 'before_enter' && hook.on_failure === undefined),
    timeout_seconds,
    environment: env,
  }
  const script = { command: hook.script, timeout_seconds, success_exit_codes: [0] }
  const run = await runs.run(task, start, (live) =>
    runScriptHook(
      context.places.scripts({ task_id: task.id, project_id: task.project_id }),
      script,
      { cwd, env, redact, containment, processMarker, signal },
      live,
    ),
  )
  if (run.status === 'succeeded') return { kind: 'ok' }
  const output = (run.stderr.trim() || run.stdout.trim()).slice(-2_000)
  // Of what did not run, the output is the reason.
  const reason = [run.reason, run.exit_code === null ? '' : output].filter(Boolean).join(': ')
  return {
    kind: 'failed',
    reason,
    script: { exit_code: run.exit_code ?? 1, stderr_summary: output, log_name: run.log_name },
  }
}

/** Returns the first match if a state has the same hook twice or the workflow was edited while the hook ran. */
function hookIndex(workflow: Workflow, state: string, phase: HookPhase, hook: StateHook): number {
  const found = workflow.states.get(state)
  const wanted = JSON.stringify(hook)
  return Math.max(0, found ? hooksAt(found, phase).findIndex((one) => JSON.stringify(one) === wanted) : 0)
}
