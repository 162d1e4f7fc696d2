import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { Usage } from '../../src-shared/contract/executions.ts'
import { clearAnnotation } from '../tasks/rules/clear-annotation.ts'
import { checkPermissions } from '../domain/access/permissions.ts'
import type { PendingRequests } from './pending-requests.ts'
import { resetRequired } from '../transitions/block-task.ts'
import { authorityRefusal } from '../core/authority.ts'
import { nowIso } from '../core/ground.ts'
import type { RunGround } from './run-ground.ts'
import { emitRunner } from '../core/runner-records.ts'
import { assignRunner } from './assign-runner.ts'
import { placeFiles } from './attachments.ts'
import { buildLaunchPrompt } from './build-launch-prompt.ts'
import { toStoredPrompt } from './prompt-record.ts'
import { enqueueWorkStarted } from '../transitions/enqueue-hooks.ts'
import { ExecutorError, type ExecutionOutcome, type ExecutionRun, type RunningExecution } from '../ports/executors.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { toExecution, toSettings } from '../core/views.ts'
import { readBranchTips, settleMovedBranches } from '../workspaces/moved-branches.ts'
import { readRepositoryState } from '../workspaces/repository-changes.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'
import { leaving, openRunLog, type RunWatchers } from './run-log.ts'
import { runListener } from './run-listener.ts'
import { afterwards } from '../../src-shared/lang/afterwards.ts'

export interface RunningLaunch {
  readonly kind: 'running'
  readonly process: RunningExecution
}
export type LaunchResult =
  | RunningLaunch
  /** The agent runs on another machine: it sends heartbeats and finishes over the API. */
  | { readonly kind: 'remote' }
  /** Its runner can't be reached: it is queued as before. */
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'failed'; readonly outcome: ExecutionOutcome; readonly workspace_gone?: boolean }

/** The execution to launch and the state of its run. */
export interface LaunchRequest extends RunWatchers {
  readonly record: ExecutionRecord
  readonly asks: PendingRequests
}

/** Starts a queued execution: worktree, lock, token, log, process. On failure it releases what it took. */
export async function launch(
  context: RunGround,
  worktrees: Worktrees,
  { record: queued, ...about }: LaunchRequest,
  signal: AbortSignal,
): Promise<LaunchResult> {
  const task = context.store.read.tasks.get(queued.task_id)
  if (!task) throw new BugError(`Execution ${queued.id} has no task.`)
  const record = await assignRunner(context, worktrees, task, queued)
  if (record.agent_id === null) return await startRemote(context, task, record, false)
  const agent = context.store.read.agents.get(record.agent_id)
  if (!agent) return failed('Its agent was deleted. Claim the task with another.')
  const unheld = authorityRefusal(context, task, agent) ?? checkPermissions(agent)
  if (unheld) return failed(unheld.message)
  const ensured = await worktrees.ensure(task, signal)
  if (ensured.kind === 'branch_gone') return { ...failed(resetRequired.message), workspace_gone: true }
  if (ensured.kind === 'failed') return failed(ensured.message)
  if (agent.daemon_id !== null || context.places.of(record.task_id).runs.location(agent.executor) === 'remote')
    return await startRemote(
      context,
      task,
      { ...record, repository_state: await readRepositoryState(context, ensured.workspace, true) },
      true,
    )
  try {
    return await startLocal(context, worktrees, { task, record, agent, workspace: ensured.workspace, ...about }, signal)
  } catch (error) {
    await context.places.of(record.task_id).locks.unlock(ensured.workspace.path, record.id)
    await context.writes.untilWritten(() => context.agentTokens.revoke(record.id), signal)
    if (error instanceof ExecutorError || error instanceof WorkspaceError) return failed(error.message)
    if (error instanceof ExecutionGone || signal.aborted) return failed('Stopped before it started.')
    throw error
  }
}

interface LaunchContext extends LaunchRequest {
  readonly task: TaskRecord
  readonly agent: AgentRecord
  readonly workspace: WorkspaceRecord
}

async function startLocal(
  context: RunGround,
  worktrees: Worktrees,
  launch: LaunchContext,
  signal: AbortSignal,
): Promise<LaunchResult> {
  const { task, record, agent, workspace } = launch
  const { locks, containment, worktrees: files, runs } = context.places.of(task.id)
  const holder = await locks.lock(workspace.path, { execution_id: record.id, pid: null })
  if (holder) return failed('Another run is using this worktree. Wait, or stop it.')
  const project = context.store.read.projects.get(task.project_id)
  const settings = project ? toSettings(project) : null
  const isHeld = containment.effectiveLevel(agent.config.containment ?? 'none') !== 'none'
  const [head, repository_state, { parts, images, knowledge_file }] = await Promise.all([
    files.head(workspace.path, { signal }),
    // The refs are out of the reach of a contained run.
    readRepositoryState(context, workspace, !isHeld),
    buildLaunchPrompt(context, worktrees, launch, signal),
  ])
  await placeFiles(context, task, workspace.path)
  await saveStartState(context, record, { start_commit: head, repository_state })
  const told = { ...launch, record: { ...record, ...toStoredPrompt(parts), start_commit: head, repository_state } }
  context.rememberSecrets(record.overrides.env ?? {})
  const own = await openRunLog(context, { ...launch, executor: agent.executor }, settings?.redaction_patterns ?? [])
  try {
    const timeout_seconds = record.overrides.timeout_seconds ?? settings?.execution_timeout_seconds ?? null
    const known = Promise.withResolvers<void>()
    const run = await runOf(context, worktrees, told, {
      log: own.log,
      timeout_seconds,
      images,
      knowledge_file,
      known: known.promise,
      onAnswer: own.onAnswer,
    })
    const canMoveRefs = isHeld && !(await containment.keepsRefs(workspace.path))
    const branches = canMoveRefs ? await readBranchTips(context, task, workspace.path) : null
    const process = await runs.start(agent.executor, run, { signal })
    own.started(process)
    await saveProcess(context, told, process)
    process.begin?.()
    known.resolve()
    const unlock = () => locks.unlock(workspace.path, record.id)
    const outcome = afterwards(own.outcomeOf(process), async () => {
      if (branches !== null)
        await settleMovedBranches(context, task, workspace.path, branches).catch((error: unknown) => {
          context.log.warn({ err: error, execution_id: record.id }, 'what a run did to other branches was not noted')
        })
      await unlock()
    })
    return { kind: 'running', process: { ...process, outcome, ...leaving(process, own, unlock) } }
  } catch (error) {
    await own.close()
    throw error
  }
}

/**
 * Saves the state that the run is compared with afterwards. The agent may judge the work before its run is saved as
 * running.
 */
async function saveStartState(
  context: RunGround,
  { id }: ExecutionRecord,
  found: Pick<ExecutionRecord, 'start_commit' | 'repository_state'>,
): Promise<void> {
  await context.writes.untilWritten(() =>
    context.feed.commit((tx) => {
      const queued = tx.executions.get(id)
      if (queued?.status !== 'queued') throw new ExecutionGone()
      tx.executions.put({ ...queued, ...found })
    }),
  )
}

/** Saves the process in the lock and the record; if that fails, no record of the process exists, so it is ended. */
async function saveProcess(
  context: RunGround,
  { task, record, agent, workspace }: LaunchContext,
  running: RunningExecution,
): Promise<void> {
  const { pid = null, started = null } = running.process ?? {}
  try {
    await context.places.of(record.task_id).locks.lock(workspace.path, { execution_id: record.id, pid })
    const containment = context.places.of(record.task_id).containment.effectiveLevel(agent.config.containment ?? 'none')
    await markRunning(context, task, { ...record, containment, pid, pid_started: started })
  } catch (error) {
    await running.stop()
    throw error
  }
}

interface RunParts extends Pick<ExecutionRun, 'log' | 'timeout_seconds' | 'images' | 'onAnswer'> {
  readonly knowledge_file: string
  /** Resolves once the record says that the run is running: no request is announced before that. */
  readonly known: Promise<void>
}

/** Builds the executor's input: the agent's configuration with the claim's overrides, and a token for the run. */
async function runOf(
  context: RunGround,
  worktrees: Worktrees,
  { task, record, agent, workspace, asks }: LaunchContext,
  { knowledge_file, known, ...more }: RunParts,
): Promise<ExecutionRun> {
  const { overrides } = record
  const url = context.apiUrl()
  const bound = { agent_id: agent.id, project_id: task.project_id, task_id: task.id, execution_id: record.id }
  const previous_status = context.store.read.transitions.last(task.id)?.from_state
  const token = await context.writes.untilWritten(() => context.agentTokens.mint(bound))
  return {
    ...more,
    execution_id: record.id,
    task_id: task.id,
    agent_id: agent.id,
    cwd: workspace.path,
    prompt: record.prompt,
    own_command: agent.config.command,
    config: {
      ...agent.config,
      ...(overrides.command !== undefined && { command: overrides.command }),
      ...(overrides.model !== undefined && { model: overrides.model }),
      ...(overrides.effort !== undefined && { effort: overrides.effort }),
      ...(overrides.args !== undefined && { args: overrides.args }),
    },
    env: {
      ...agent.config.env,
      ...overrides.env,
      ...worktrees.environment(task, 'agent', {
        agent_id: agent.id,
        execution_id: record.id,
        ...(previous_status !== undefined && { previous_status }),
      }),
      SVC_API_TOKEN: token,
      SVC_KNOWLEDGE_FILE: knowledge_file,
      ...(url !== null && { SVC_API_URL: url }),
    },
    mcp: url === null ? null : { url: `${url}/api/v1/mcp`, token },
    session_id: record.session_id,
    session_usage: usageOfSession(context, record),
    ...runListener(context, record, { agent_id: agent.id, asks, known, log: more.log }),
  }
}

/** Returns the usage of the earlier runs of its session, as far as it was reported. */
function usageOfSession(context: RunGround, { id, task_id, session_id }: ExecutionRecord): Usage {
  const sum = { input_tokens: 0, output_tokens: 0, cost_usd: null as number | null }
  for (const other of session_id === null ? [] : context.store.read.executions.byTask(task_id)) {
    if (other.id === id || other.session_id !== session_id || other.usage === null) continue
    sum.input_tokens += other.usage.input_tokens ?? 0
    sum.output_tokens += other.usage.output_tokens ?? 0
    if (other.usage.cost_usd !== null) sum.cost_usd = (sum.cost_usd ?? 0) + other.usage.cost_usd
  }
  return sum
}

/** Marks a person's or an external agent's execution as running; there is no process to start. */
async function startRemote(
  context: RunGround,
  task: TaskRecord,
  record: ExecutionRecord,
  heartbeats: boolean,
): Promise<LaunchResult> {
  await markRunning(context, task, { ...record, last_heartbeat_at: heartbeats ? nowIso(context) : null })
  return { kind: 'remote' }
}

/** The execution was ended, or its task deleted, during the start. */
class ExecutionGone extends Error {
  override readonly name = 'ExecutionGone'
  readonly code = 'execution_gone'
}

async function markRunning(context: RunGround, task: TaskRecord, record: ExecutionRecord): Promise<void> {
  await context.writes.untilWritten(() =>
    context.feed.commit((tx) => {
      const queued = tx.executions.get(record.id)
      if (queued?.status !== 'queued') throw new ExecutionGone()
      const { session_id } = queued
      const running: ExecutionRecord = { ...record, session_id, status: 'running', started_at: tx.now() }
      tx.executions.put(running)
      const current = tx.tasks.get(task.id)
      const hasPendingStep = tx.effects.first(task.id) !== null
      const annotation = clearAnnotation(current?.error_annotation ?? null, 'run', hasPendingStep)
      if (current && (current.active_execution_id !== record.id || current.error_annotation !== annotation)) {
        tx.saveTask({ ...current, active_execution_id: record.id, error_annotation: annotation })
      }
      tx.emit('execution.started', { project_id: task.project_id, task_id: task.id, execution: toExecution(running) })
      emitRunner(tx, running.runner_id)
      const project = tx.projects.get(task.project_id)
      if (current && project) {
        enqueueWorkStarted(tx, context.workflows.of(project.workflow_definition), current, running)
      }
    }),
  )
}

function failed(message: string): LaunchResult & { kind: 'failed' } {
  return {
    kind: 'failed',
    outcome: { ended: 'failed_to_start', exit_code: null, session_id: null, usage: null, conclusion: 'done', message },
  }
}
