import { portBases, portsFrom } from '../workspaces/rules/port-ranges.ts'
import { scriptEnvironment } from '../workspaces/rules/script-environment.ts'
import { scratchMark } from '../workspaces/scratch-mark.ts'
import type { Ground } from '../core/ground.ts'
import { scriptContainment } from '../core/script-containment.ts'
import { toSettings } from '../core/views.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { Place } from '../ports/place.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { RunEnd } from './run-end.ts'
import { afterwards } from '../../src-shared/lang/afterwards.ts'

interface ScratchRun {
  readonly project: ProjectRecord
  readonly repo_path: string
  readonly commit: string
  readonly steps: readonly string[]
  /** Whose logs keep the output; null: only its end is kept. */
  readonly task: TaskRecord | null
}

export type RunInScratch = (run: ScratchRun, signal: AbortSignal) => Promise<RunEnd>

/**
 * Runs steps on a commit in a throw-away worktree, set up as a task's: copied files, set-up commands, ports of its own.
 * Nothing of it is left when the call settles.
 */
export function createScratchRuns(context: Ground): RunInScratch {
  /** The first ports of the ranges that scratch worktrees use now. */
  const borrowed = new Set<number>()
  return async (run, signal) => {
    const { project, repo_path, commit: at, task } = run
    const place = task === null ? context.places.here : context.places.of(task.id)
    const { copy_files, redaction_patterns } = toSettings(project)
    const request = { repo_path, root: place.workspaceRoot, at, copy_files }
    const port_base = await borrowPorts(context, place, borrowed)
    const use = (path: string) => runAll(context, run, { path, port_base }, signal)
    try {
      return await place.scratch.withScratch(request, use, { signal })
    } catch (error) {
      if (!(error instanceof WorkspaceError) || signal.aborted) throw error
      return { kind: 'broken', message: context.redactor(redaction_patterns)(error.message) }
    } finally {
      if (port_base !== null) borrowed.delete(port_base)
    }
  }
}

interface ScratchFolder {
  readonly path: string
  readonly port_base: number | null
}

async function runAll(
  context: Ground,
  { project, repo_path, steps, task }: ScratchRun,
  { path: cwd, port_base }: ScratchFolder,
  signal: AbortSignal,
): Promise<RunEnd> {
  const settings = toSettings(project)
  const redact = context.redactor(settings.redaction_patterns)
  const scripts = context.places.scripts({ task_id: task?.id ?? null, project_id: project.id })
  const env = scriptEnvironment({
    event: 'landing',
    task: task ?? { id: context.newId(), title: `Check of ${project.name}`, status: '' },
    previous_status: task?.status ?? '',
    project,
    repo_path,
    worktree_path: cwd,
    port_base,
    agent_id: null,
    execution_id: null,
  })
  const perform = (command: string, log_name: string) =>
    logged(context, task, log_name, redact, (log) => {
      const timeout_ms = settings.ci_step_timeout_seconds * 1_000
      const processMarker = scratchMark(cwd)
      const script = { command, cwd, env, timeout_ms, processMarker, containment: scriptContainment(settings) }
      return scripts.run({ ...script, ...(log && { log }) }, { signal })
    })
  const stamp = new Date(context.clock.now()).toISOString().replaceAll(/[:.]/g, '-')
  for (const [index, command] of settings.setup_commands.entries()) {
    const { exit_code, output_tail, not_run } = await perform(command, `landing-${stamp}-setup-${index + 1}.log`)
    signal.throwIfAborted()
    if (not_run !== undefined) return { kind: 'broken', message: redact(not_run) }
    if (exit_code === 0) continue
    const output = redact(output_tail)
    return { kind: 'broken', message: `The setup command “${command}” ended with exit code ${exit_code}.\n${output}` }
  }
  const flaky: string[] = []
  for (const [index, command] of steps.entries()) {
    const log_name = `landing-${stamp}-${index + 1}.log`
    const first = await perform(command, log_name)
    signal.throwIfAborted()
    if (first.exit_code === 0) continue
    if (first.not_run !== undefined) return { kind: 'broken', message: redact(first.not_run) }
    const again = settings.landing.retry_failed
      ? await perform(command, `landing-${stamp}-${index + 1}-again.log`)
      : first
    signal.throwIfAborted()
    if (again.exit_code === 0) {
      flaky.push(command)
      continue
    }
    if (again.not_run !== undefined) return { kind: 'broken', message: redact(again.not_run) }
    const { exit_code } = again
    return { kind: 'failed', step: command, exit_code, output_tail: redact(again.output_tail), log_name }
  }
  return { kind: 'passed', flaky }
}

async function logged<T>(
  context: Ground,
  task: TaskRecord | null,
  name: string,
  redact: (text: string) => string,
  work: (log: Awaited<ReturnType<Ground['logs']['openFile']>> | null) => Promise<T>,
): Promise<T> {
  if (task === null) return await work(null)
  const log = await context.logs.openFile(task.id, name, redact)
  return await afterwards(work(log), () => log.close())
}

/** Takes ports that no worktree has and nothing uses; null when there are none. */
async function borrowPorts(context: Ground, { ports }: Place, borrowed: Set<number>): Promise<number | null> {
  for (const base of portBases(context.newId())) {
    if (borrowed.has(base) || context.store.read.workspaces.portBases().has(base)) continue
    borrowed.add(base)
    if (await ports.arePortsFree(portsFrom(base))) return base
    borrowed.delete(base)
  }
  return null
}
