import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import { holdStart } from '../core/authority.ts'
import { mayWorkIn } from '../domain/access/agents.ts'
import { isRefusal } from '../domain/refusal.ts'
import { wipRefusal } from './rules/claim-guard.ts'
import { pullingStates, type PullingState } from '../domain/workflow/pulling-states.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { OutboxWorker } from '../steps/outbox-worker.ts'
import type { StepServices } from '../steps/step-services.ts'
import type { Claims } from './claims.ts'

/** Fills the states that pull: each takes the next tasks of the column before it, as long as it has room. */
export interface WipPulls {
  /** Looks in the project of a task that has changed, or in all; when a look is running, once more after it. */
  look(task_id?: TaskId): void
  close(): Promise<void>
}

export interface WipPullDeps extends Pick<StepServices, 'context' | 'transitions'> {
  readonly claims: Pick<Claims, 'claim' | 'preview'>
  readonly worker: Pick<OutboxWorker, 'wake'>
}

export function createWipPulls(deps: WipPullDeps): WipPulls {
  const { context } = deps
  const { read } = context.store
  const closing = new AbortController()
  /** The version at which a task could not be pulled: it is not asked again before it has changed. */
  const refused = new Map<TaskId, number>()
  /** Tasks in whose projects to look next; null: in all projects. */
  let changed: Set<TaskId> | null = new Set()
  let soon: NodeJS.Immediate | null = null
  let running: Promise<void> | null = null

  const fill = async (project_id: ProjectId, { state, sources }: PullingState): Promise<void> => {
    const isFull = () => wipRefusal(state, read.tasks.idsInStatus(project_id, state.name)) !== null
    if (isFull()) return
    for (const id of read.tasks.waitingIn(project_id, [...sources])) {
      if (closing.signal.aborted || isFull()) return
      const task = read.tasks.get(id)
      if (!task || !sources.has(task.status) || refused.get(id) === task.version) continue
      if ((await pull(deps, task, state, closing.signal)) === 'refused') refused.set(id, task.version)
      else refused.delete(id)
    }
  }
  const takeProjects = (): readonly ProjectRecord[] => {
    const ids = changed && new Set([...changed].flatMap((id) => read.tasks.get(id)?.project_id ?? []))
    changed = new Set()
    return ids === null ? read.projects.list() : [...ids].flatMap((id) => read.projects.get(id) ?? [])
  }
  const fillAll = async (): Promise<void> => {
    for (const project of takeProjects()) {
      if (project.paused_at !== null) continue
      for (const pulling of pullingStates(context.workflows.of(project.workflow_definition))) {
        await fill(project.id, pulling)
      }
    }
  }
  const run = async (): Promise<void> => {
    try {
      await fillAll()
    } catch (error) {
      if (!closing.signal.aborted) context.log.error({ err: error }, 'tasks could not be pulled')
    }
  }
  const begin = () => {
    soon = null
    if (closing.signal.aborted || running) return
    running = run().finally(() => {
      running = null
      if (changed === null || changed.size > 0) soon ??= setImmediate(begin)
    })
  }
  const look = (task_id?: TaskId) => {
    if (task_id === undefined) changed = null
    else changed?.add(task_id)
    soon ??= setImmediate(begin)
  }
  return {
    look,
    close: async () => {
      closing.abort(new Error('The service is stopping.'))
      if (soon) clearImmediate(soon)
      await running
    },
  }
}

/**
 * Moves one task. Into work it is claimed for the agent that has the role or is the only one; without such it is passed
 * over, as is a task that may not move now. `refused`: hooks said no.
 */
async function pull(
  deps: WipPullDeps,
  task: TaskRecord,
  state: WorkflowState,
  signal: AbortSignal,
): Promise<'pulled' | 'passed_over' | 'refused'> {
  const { context, transitions, claims, worker } = deps
  const { read } = context.store
  const kind = transitions.workflowOf(read, task).states.get(task.status)?.kind
  if (state.kind === 'active' && (kind === 'backlog' || kind === 'initial')) {
    const claimant = workerFor(read, task, state)
    if (!claimant) return 'passed_over'
    const plan = claims.preview(read, task, claimant)
    if (isRefusal(plan) && plan.code === 'needs_person') context.feed.commit((tx) => holdStart(tx, task.id, plan))
    if (isRefusal(plan) || plan.path.at(-1) !== state.name) return 'passed_over'
    const request = {
      task_id: task.id,
      claimant,
      triggered_by: `agent:${claimant.id}`,
      by_person: false,
      overrides: {},
    }
    const claimed = await claims.claim(request, signal)
    return isRefusal(claimed) ? (claimed.code === 'transition_blocked' ? 'refused' : 'passed_over') : 'pulled'
  }
  const moved = context.feed.commit((tx) => {
    const now = tx.tasks.get(task.id)
    const isBusy = now?.version !== task.version || tx.effects.first(task.id) !== null
    if (isBusy || tx.executions.openOfTask(task.id).length > 0) return false
    const move = { to: state.name, cause: 'asked', triggered_by: 'system', version: null } as const
    return !isRefusal(transitions.apply(tx, now, { ...move, reason: `${state.label} had room.` }))
  })
  if (!moved) return 'passed_over'
  worker.wake(task.id)
  // A hook before the move may refuse it, and leaves the task as it is.
  return read.tasks.get(task.id)?.status === state.name ? 'pulled' : 'refused'
}

/** Returns the agent that has the role of the state; for a task that nobody has, the only agent that can take it. */
function workerFor(q: Queries, task: TaskRecord, state: WorkflowState): Extract<Assignee, { type: 'agent' }> | null {
  const holder = task.roles[state.role ?? 'assignee']
  if (holder) return holder.type === 'agent' ? holder : null
  const isMember = ({ owner_id }: AgentRecord) =>
    owner_id !== null && q.members.role(task.project_id, owner_id) !== null
  const project = q.projects.get(task.project_id)
  const able = project ? q.agents.list().filter((one) => !one.paused && mayWorkIn(one, project, isMember(one))) : []
  const [only] = able
  return only && able.length === 1 ? { type: 'agent', id: only.id } : null
}
