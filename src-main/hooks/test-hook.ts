import type { HookEvent, HookRun, LifecycleHook, ScriptHook } from '../../src-shared/contract/lifecycle-hooks.ts'
import { scriptEnvironment } from '../workspaces/rules/script-environment.ts'
import { nowIso, type Ground } from '../core/ground.ts'
import { scriptContainment } from '../core/script-containment.ts'
import type { ProjectRecord, RepoRecord } from '../ports/project-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { toSettings } from '../core/views.ts'
import type { HookRunResult } from './hook-runs.ts'
import { scratchMark } from '../workspaces/scratch-mark.ts'
import { identityOf, type HookDeps } from './run-hook.ts'
import { runScriptHook, skippedRun } from './script-hook.ts'

export interface HookTest {
  readonly project: ProjectRecord
  readonly repo: RepoRecord
  /** null for a sample task. */
  readonly task: TaskRecord | null
  readonly event: HookEvent
  readonly hook: LifecycleHook
}

/**
 * Runs one hook as a test: a script really runs, in a temporary worktree. A plugin would change its task, so it is only
 * checked. Writes no log and emits no event.
 */
export async function testHook(
  deps: Pick<HookDeps, 'context' | 'plugins'>,
  test: HookTest,
  signal: AbortSignal,
): Promise<HookRun> {
  const { context } = deps
  const { event, hook, project } = test
  const redact = context.redactor(toSettings(project).redaction_patterns)
  const began = context.clock.now()
  const seen = (environment: Record<string, string>, end: HookRunResult): HookRun => ({
    log_name: '',
    event,
    index: 0,
    ...identityOf(hook),
    environment,
    started_at: new Date(began).toISOString(),
    duration_ms: context.clock.now() - began,
    ...end,
  })
  if (hook.type === 'plugin') {
    const isSupported = deps.plugins.get(hook.name)?.events.includes(event) === true
    return seen(environmentOf(context, test, ''), skippedRun(isSupported ? 'not_run_in_a_test' : 'unsupported_event'))
  }
  return await inScratch(context, test, signal, async (path) => {
    const env = environmentOf(context, test, path)
    return seen(env, await runScript(context, test, hook, { path, env, redact }, signal))
  })
}

async function runScript(
  context: Ground,
  { project, task }: HookTest,
  hook: ScriptHook,
  { path: cwd, env, redact }: { path: string; env: Record<string, string>; redact: (text: string) => string },
  signal: AbortSignal,
): Promise<HookRunResult> {
  const containment = scriptContainment(toSettings(project))
  const processMarker = () => scratchMark(cwd)
  const scripts = context.places.scripts({ task_id: task?.id ?? null, project_id: project.id })
  return await runScriptHook(scripts, hook, {
    cwd,
    env,
    redact,
    containment,
    processMarker,
    signal,
  })
}

/** Uses the task's branch if it has one, otherwise the branch that its work would start from. */
async function inScratch(
  context: Ground,
  { project, repo, task }: HookTest,
  signal: AbortSignal,
  use: (path: string) => Promise<HookRun>,
): Promise<HookRun> {
  const workspace = task && context.store.read.workspaces.byTask(task.id)
  const at = workspace && workspace.base_commit !== null ? workspace.branch : repo.default_branch
  const { copy_files } = toSettings(project)
  const { workspaceRoot: root, scratch } = context.places.here
  return await scratch.withScratch({ repo_path: repo.path, root, at, copy_files }, use, { signal })
}

function environmentOf(context: Ground, test: HookTest, worktree_path: string): Record<string, string> {
  const { project, repo, event } = test
  const initial = context.workflows.of(project.workflow_definition).definition.states[0]?.name ?? ''
  const task = test.task ?? { id: context.newId(), title: `A test of ${event} at ${nowIso(context)}`, status: initial }
  return scriptEnvironment({
    event,
    task,
    previous_status: task.status,
    project,
    repo_path: repo.path,
    worktree_path,
    port_base: null,
    agent_id: null,
    execution_id: null,
  })
}
