import type { HookPhase, StateHook } from '../../src-shared/contract/workflow-definition.ts'
import type { EngineContext } from './context.ts'
import type { PluginResult } from './plugins/plugin.ts'
import type { TaskRecord } from './store-port.ts'
import { toSettings } from './views.ts'
import { workspaceOf } from './workspace-of.ts'
import type { Worktrees } from './worktrees.ts'

/** Runs a state hook's inline script in the worktree, or in the repository's root when there is none. */
export async function runStateScript(
  deps: { readonly context: EngineContext; readonly worktrees: Worktrees },
  task: TaskRecord,
  hook: StateHook & { script: string },
  phase: HookPhase,
  from: string,
  signal: AbortSignal,
  mark?: () => string,
): Promise<PluginResult> {
  const { context, worktrees } = deps
  const { read } = context.store
  const workspace = workspaceOf(read, task)
  const hasWorktree = workspace !== null && (await context.workspaces.exists(workspace.path))
  const cwd = hasWorktree ? workspace.path : read.repos.get(task.repo_id)?.path
  if (cwd === undefined) return { kind: 'skipped', reason: 'no_repository' }
  const project = read.projects.get(task.project_id)
  const redact = context.redactor(project ? toSettings(project).redaction_patterns : [])
  const log = await context.logs.openFile(task.id, `hook-${phase}-${context.clock.now()}.log`, redact)
  try {
    const env = worktrees.environment(task, phase, { previous_status: from })
    const result = await context.scripts.run(
      {
        command: hook.script,
        cwd,
        env: hasWorktree ? env : { ...env, SVC_WORKTREE_PATH: '' },
        timeout_ms: (hook.timeout_seconds ?? 30) * 1_000,
        log,
        ...(mark && { mark: mark() }),
      },
      { signal },
    )
    if (result.exit_code === 0) return { kind: 'ok' }
    const why = result.timed_out ? `ran out of its ${hook.timeout_seconds ?? 30} s` : `exit code ${result.exit_code}`
    const said = redact(result.output_tail).slice(-2_000)
    return { kind: 'failed', reason: `${why}: ${said}`, script: { exit_code: result.exit_code, stderr_summary: said } }
  } finally {
    await log.close()
  }
}
