import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionOverrides } from '../../src-shared/contract/executions.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { isDone } from '../domain/workflow/graph.ts'
import { holdStart } from '../core/authority.ts'
import type { Tx } from '../core/event-feed.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { Ground } from '../core/ground.ts'
import type { RunGround } from '../executions/run-ground.ts'
import type { StepServices } from '../steps/step-services.ts'
import type { Claimed, ClaimRequest, Claims } from './claims.ts'

interface ReadyStartRequest {
  readonly task_id: TaskId
  readonly agent: AgentRecord
  readonly overrides: ExecutionOverrides
  /** Who wants it: `user:<handle>`, `agent:<id>`. */
  readonly by: string
}

/** A task that starts once it can. */
interface Waiting {
  readonly task: TaskRecord
  readonly execution: null
  readonly workspace: null
}

/** Tasks that start by themselves once no dependency of theirs is open. */
export interface ReadyStarts {
  /** Has an agent claim the task once it can; at once when nothing is open. */
  set(request: ReadyStartRequest): Promise<TaskRecord | Refusal>
  clear(task_id: TaskId): TaskRecord | Refusal
  /**
   * Has an agent claim the task now. With `lock_policy: "wait"` a state that is full refuses nothing: the task starts
   * once there is room. `by`: who asks for it.
   */
  claim(
    request: ClaimRequest & { readonly agent: AgentRecord; readonly by: string },
    signal: AbortSignal,
  ): Promise<Claimed | Waiting | Refusal>
  /** Returns the task without a dependency: what failed there holds it no more. */
  withoutDependency(task: TaskRecord, removed: TaskId): TaskRecord
  /** Claims for the tasks that can start now. What is refused now is tried again at the next look. */
  look(): void
  close(): Promise<void>
}

/** These say that nothing will come of it; any other refusal ends by itself. */
const hopeless: readonly Refusal['code'][] = [
  'task_terminal',
  'not_claimable',
  'not_found',
  'already_claimed',
  'forbidden',
]

interface ReadyStartDeps extends Pick<StepServices, 'transitions'> {
  readonly context: Ground & Pick<RunGround, 'rememberSecrets'>
}

export function createReadyStarts(
  { context, transitions }: ReadyStartDeps,
  claims: Pick<Claims, 'claim' | 'preview'>,
): ReadyStarts {
  const { read } = context.store
  const closing = new AbortController()
  const starts = new Map<TaskId, Promise<void>>()
  let looking: NodeJS.Immediate | null = null

  /** The dependencies that are still to be done, and those of them that never will be. */
  const openOf = (q: Queries, task: TaskRecord) => {
    const workflow = transitions.workflowOf(q, task)
    const open = q.dependencies.of(task.id).flatMap((id) => {
      const other = q.tasks.get(id)
      return other && !isDone(workflow, other.status) ? [other] : []
    })
    return { open, failed: open.filter(({ status }) => status === workflow.cancellation?.name).map(({ id }) => id) }
  }
  const tell = (tx: Tx, task: TaskRecord, failed: readonly TaskId[]): void => {
    const known = task.error_annotation
    if (known !== null && known.type !== 'dependency_failed') return
    const same = JSON.stringify(known?.dependencies ?? []) === JSON.stringify(failed)
    if (!same) tx.saveTask({ ...task, error_annotation: failed.length === 0 ? null : dependencyFailed(failed) })
  }
  const start = async (id: TaskId): Promise<void> => {
    const task = read.tasks.get(id)
    const wish = task?.start_when_ready
    if (!task || !wish) return
    const { open, failed } = openOf(read, task)
    if (failed.length > 0) {
      context.feed.commit((tx) => {
        const now = tx.tasks.get(id)
        if (now) tell(tx, now, failed)
      })
    }
    // What failed and is gone holds it until a person has looked.
    const isHeld = task.error_annotation?.type === 'dependency_failed' && hasGone(read, task.error_annotation)
    if (open.length > 0 || isHeld || task.archived) return
    const claimed = await claims.claim(
      {
        task_id: id,
        claimant: { type: 'agent', id: wish.agent_id },
        triggered_by: `agent:${wish.agent_id}`,
        by_person: false,
        overrides: wish.overrides,
      },
      closing.signal,
    )
    if (!isRefusal(claimed)) return
    if (claimed.code === 'needs_person') context.feed.commit((tx) => holdStart(tx, id, claimed))
    if (!hopeless.includes(claimed.code)) return
    context.log.warn({ task_id: id, code: claimed.code }, 'a task that was to start automatically never can')
    context.feed.commit((tx) => {
      const now = tx.tasks.get(id)
      if (!now?.start_when_ready) return
      const annotation: ErrorAnnotation = {
        type: 'execution_failed',
        message: `It couldn’t start automatically. ${claimed.message}`,
        recovery_actions: [],
      }
      tx.saveTask({ ...now, start_when_ready: null, error_annotation: now.error_annotation ?? annotation })
    })
  }
  const begin = (id: TaskId): Promise<void> => {
    const known = starts.get(id)
    if (known) return known
    const starting = start(id)
      .catch((error: unknown) => {
        if (!closing.signal.aborted)
          context.log.error({ err: error, task_id: id }, 'a task could not start automatically')
      })
      .finally(() => starts.delete(id))
    starts.set(id, starting)
    return starting
  }
  const set: ReadyStarts['set'] = async ({ task_id, agent, overrides, by }) => {
    context.rememberSecrets(overrides.env ?? {})
    const saved = context.feed.commit((tx): TaskRecord | Refusal => {
      const task = tx.tasks.get(task_id)
      if (!task) return notFound('task')
      const plan = claims.preview(tx, task, { type: 'agent', id: agent.id }, overrides)
      if (isRefusal(plan) && (hopeless.includes(plan.code) || plan.code === 'needs_person')) return plan
      const start_when_ready = { agent_id: agent.id, overrides, by, since: tx.now() }
      const isFailed = task.error_annotation?.type === 'dependency_failed'
      return tx.saveTask({ ...task, start_when_ready, ...(isFailed && { error_annotation: null }) })
    })
    if (isRefusal(saved)) return saved
    await begin(task_id)
    return read.tasks.get(task_id) ?? notFound('task')
  }
  return {
    set,
    claim: async ({ agent, by, ...request }, signal) => {
      const claimed = await claims.claim(request, signal)
      const waits = request.overrides.lock_policy === 'wait'
      if (!isRefusal(claimed) || claimed.code !== 'wip_limit' || !waits) return claimed
      const waiting = await set({ task_id: request.task_id, agent, overrides: request.overrides, by })
      return isRefusal(waiting) ? waiting : { task: waiting, execution: null, workspace: null }
    },
    clear: (task_id) =>
      context.feed.commit((tx) => {
        const task = tx.tasks.get(task_id)
        if (!task) return notFound('task')
        if (task.start_when_ready === null) return task
        const isFailed = task.error_annotation?.type === 'dependency_failed'
        return tx.saveTask({ ...task, start_when_ready: null, ...(isFailed && { error_annotation: null }) })
      }),
    withoutDependency,
    look: () => {
      looking ??= setImmediate(() => {
        looking = null
        if (closing.signal.aborted) return
        for (const id of read.tasks.startingWhenReady()) void begin(id)
      })
    },
    close: async () => {
      closing.abort(new Error('The service is stopping.'))
      if (looking) clearImmediate(looking)
      await Promise.all(starts.values())
    },
  }
}

const hasGone = (q: Queries, { dependencies = [] }: ErrorAnnotation): boolean =>
  dependencies.some((id) => q.tasks.get(id) === null)

/** The task was to start after others that will not be done. */
function dependencyFailed(dependencies: readonly TaskId[]): ErrorAnnotation {
  const which =
    dependencies.length === 1 ? 'A task it depends on was' : `${dependencies.length} tasks it depends on were`
  return {
    type: 'dependency_failed',
    message: `${which} cancelled or deleted, so it doesn’t start automatically. Remove the dependency, or start it yourself.`,
    dependencies: [...dependencies],
    recovery_actions: [],
  }
}

/** The task of `waiting` loses a dependency that is deleted: unless it was done, it never will be. */
export function withoutDeleted(waiting: TaskRecord, deleted: TaskRecord, wasDone: boolean): TaskRecord {
  if (waiting.start_when_ready === null || wasDone) return waiting
  const known = waiting.error_annotation
  if (known !== null && known.type !== 'dependency_failed') return waiting
  return { ...waiting, error_annotation: dependencyFailed([...(known?.dependencies ?? []), deleted.id]) }
}

function withoutDependency(task: TaskRecord, removed: TaskId): TaskRecord {
  const known = task.error_annotation
  if (known?.type !== 'dependency_failed') return task
  const left = (known.dependencies ?? []).filter((id) => id !== removed)
  return { ...task, error_annotation: left.length === 0 ? null : dependencyFailed(left) }
}
