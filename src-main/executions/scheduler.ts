import { authorityRefusal, startWaits } from '../core/authority.ts'
import type { ExecutionId, ProjectId, RunnerId } from '../../src-shared/contract/ids.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { QueueMove } from '../../src-shared/contract/queue.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import { roleOf } from '../domain/workflow/graph.ts'
import { limitedUntil } from './accounts.ts'
import { nowIso, type Ground } from '../core/ground.ts'
import { limitAnnotation } from './rules/limits.ts'
import type { RunLimits } from './run-limits.ts'
import type { Executions } from './executions.ts'
import { enqueueExecution } from './enqueue-execution.ts'
import { belongsToCurrentState } from '../core/execution-records.ts'
import type { PluginResult } from '../core/plugin-result.ts'
import { queuedExecutions, type QueuedExecution } from './queue.ts'
import { likelyPlace, runnerRefusal, runnersOf, toldRunners } from './runner-choice.ts'
import { reorderQueue } from './reorder-queue.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { Transitions } from '../transitions/transitions.ts'

export interface Scheduler {
  /** Queues an execution for the agent with the state's role; it starts when a slot is free. */
  dispatch(task: TaskRecord): Promise<PluginResult>
  /** Starts the executions that may start, in the order of the queue, within each project's slots. */
  startQueued(): void
  /** Returns the queued executions in their order, with the reason for each wait. */
  waiting(): readonly QueuedExecution[]
  /** Moves a queued execution among those of its project. */
  move(id: ExecutionId, to: QueueMove): Refusal | null
  /** Starts no more executions. */
  close(): void
}

export function createScheduler(deps: {
  context: Ground
  transitions: Transitions
  executions: Executions
  limits: RunLimits
}): Scheduler {
  const { context, transitions } = deps
  let closed = false
  let timer: NodeJS.Timeout | undefined
  const served = new Map<RunnerId, Map<ProjectId, number>>()
  let starts = 0
  const noteStart = (runner_id: RunnerId | null, project_id: ProjectId) => {
    if (runner_id === null || runner_id === hereRunner) return
    starts += 1
    served.set(runner_id, (served.get(runner_id) ?? new Map<ProjectId, number>()).set(project_id, starts))
  }
  /** Starts delayed executions at their time; the sweeps check too, in case the clock was changed. */
  const wakeLater = (queued: readonly QueuedExecution[]) => {
    clearTimeout(timer)
    const now = context.clock.now()
    const { read } = context.store
    const times = queued.flatMap(({ record, reason }) => {
      if (reason === 'retry_later') return record.retry_at ?? []
      const agent = reason === 'usage_limit' && record.agent_id !== null ? read.agents.get(record.agent_id) : null
      return limitedUntil(read, agent, nowIso(context)) ?? []
    })
    if (times.length === 0) return
    const next = Math.min(...times.map((time) => Date.parse(time))) - now
    timer = setTimeout(startQueued, Math.min(Math.max(1, next + 1), longestTimerMs))
  }
  const startQueued = () => {
    if (closed) return
    try {
      const queued = queuedExecutions(context, deps.executions, deps.limits, served)
      for (const { record, reason, runner_id } of queued) {
        if (reason !== null) continue
        noteStart(runner_id, record.project_id)
        void start(deps, record.id, runner_id)
      }
      wakeLater(queued)
    } catch (error) {
      // The caller that freed a slot did not cause this error; the next sweep tries again.
      context.log.error({ err: error }, 'the queue could not be looked through')
    }
  }
  return {
    startQueued,
    waiting: () => queuedExecutions(context, deps.executions, deps.limits, served),
    move: (id, to) => reorderQueue(context, id, to),
    close: () => {
      closed = true
      clearTimeout(timer)
    },
    dispatch: (task) => {
      const result = context.feed.commit((tx): PluginResult => {
        const state = transitions.workflowOf(tx, task).states.get(task.status)
        const role = state && roleOf(state)
        if (!state || !role) return { kind: 'skipped', reason: 'no_role' }
        const runs = deps.executions.running()
        const holder = task.roles[role]
        const known = holder?.type === 'agent' ? tx.agents.get(holder.id) : null
        const named = toldRunners(tx, { task_id: task.id, role, agent_id: known?.id ?? null })
        const runners = runnersOf(context, tx, { task, role, agent: known, named })
        const place = likelyPlace(context, tx, task.id, runners)
        const refusal = authorityRefusal(context, task, known, place)
        if (refusal) return { kind: 'failed', reason: refusal.message, annotation: startWaits(refusal) }
        // Executions that are being stopped don't count, nor does one whose agent moved its task here: they belong to
        // the entry before.
        const open = tx.executions
          .openOfTask(task.id)
          .find((one) => one.role === role && !runs.get(one.id)?.stopped && belongsToCurrentState(tx, one))
        if (open && !open.dispatched) tx.executions.put({ ...open, dispatched: true })
        if (open) return { kind: 'ok' }
        if (holder?.type !== 'agent') return { kind: 'skipped', reason: holder ? 'person' : 'no_agent' }
        const agent = tx.agents.get(holder.id)
        if (!agent) return agentGone(role)
        const reached = deps.limits.reached(tx, task, agent)
        if (reached) {
          const annotation = limitAnnotation(reached)
          return { kind: 'failed', reason: annotation.message, annotation }
        }
        const uncontainable = place.containment.refusal(agent.config.containment ?? 'none')
        if (uncontainable !== null) return notStarted(uncontainable)
        // A runner that can't be reached now is waited for.
        const unknown = runners && runnerRefusal(tx, runners, { project_id: task.project_id, agent, waits: true })
        if (unknown) return notStarted(noRunner)
        const record = enqueueExecution(context, tx, {
          task,
          role,
          assignee: holder,
          overrides: {},
          resume: false,
          dispatched: true,
        })
        tx.saveTask({ ...task, active_execution_id: record.id })
        return { kind: 'ok' }
      })
      startQueued()
      return Promise.resolve(result)
    },
  }
}

/** The maximum of `setTimeout`. */
const longestTimerMs = 2_147_483_647

function agentGone(role: string): PluginResult {
  return notStarted(`The agent assigned as ${role} was deleted. Assign another.`)
}

const noRunner = 'A runner that the agent or the project names is not for this project. Choose another one there.'

function notStarted(message: string): PluginResult {
  return {
    kind: 'failed',
    reason: message,
    annotation: { type: 'execution_failed', message, recovery_actions: ['retry_execution'] },
  }
}

async function start(
  deps: { context: Ground; executions: Executions },
  id: ExecutionId,
  runner_id: RunnerId | null,
): Promise<void> {
  try {
    await deps.executions.start(id, runner_id)
  } catch (error) {
    deps.context.log.error({ err: error, execution_id: id }, 'an execution could not be started')
  }
}
