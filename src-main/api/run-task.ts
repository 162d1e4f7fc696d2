import { ApiError } from '../../src-shared/contract/errors.ts'
import type { ExecutionOverrides } from '../../src-shared/contract/executions.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { TaskQueries, TaskRecord } from '../ports/task-queries.ts'

// A run's rights on a task beyond those of the operation.

type Run = Extract<Principal, { kind: 'agent' }>

/** Returns whether a task is that of an agent's run, or below it. */
export function isTaskOfRun(
  q: { readonly tasks: TaskQueries },
  run: Pick<Run, 'task_id'>,
  task: Pick<TaskRecord, 'id' | 'parent_id'>,
): boolean {
  const seen = new Set<TaskId>()
  let current: Pick<TaskRecord, 'id' | 'parent_id'> | null = task
  while (current !== null && !seen.has(current.id)) {
    if (current.id === run.task_id) return true
    seen.add(current.id)
    current = current.parent_id === null ? null : q.tasks.get(current.parent_id)
  }
  return false
}

const allowedOverrides: ReadonlySet<string> = new Set<keyof ExecutionOverrides>([
  ...(['prompt', 'model', 'timeout_seconds', 'lock_policy'] as const),
])

/**
 * Throws `humans_only` if an agent sets what judges its work or what a run executes: it could approve itself, or run
 * commands that no one approved.
 */
export function checkSetByPerson(
  principal: Principal,
  set: {
    readonly review_config?: unknown
    readonly close_pull_request?: true
    readonly overrides?: ExecutionOverrides | null | undefined
  },
): void {
  if (principal.kind !== 'agent') return
  if (set.review_config !== undefined) {
    throw humansOnly('Only a person may set review_config. Leave it out, and ask for it in a comment.')
  }
  if (set.close_pull_request) throw humansOnly('Only a person may close a pull request. Leave close_pull_request out.')
  const refused = Object.keys(set.overrides ?? {}).filter((name) => !allowedOverrides.has(name))
  if (refused.length === 0) return
  throw humansOnly(
    `Only a person may set ${refused.join(', ')} for a run. An agent may set ${[...allowedOverrides].join(', ')}.`,
  )
}

/**
 * Throws `forbidden` if an agent adds an ordered subtask to another task, because it would work in that task's
 * worktree.
 */
export function checkOrderedParent(
  q: { readonly tasks: TaskQueries },
  principal: Principal,
  { parent_id, subtask_mode }: { readonly parent_id?: TaskId | undefined; readonly subtask_mode?: string | undefined },
): void {
  const parent = principal.kind === 'agent' && subtask_mode === 'ordered' && parent_id ? q.tasks.get(parent_id) : null
  if (!parent || principal.kind !== 'agent' || isTaskOfRun(q, principal, parent)) return
  const message = 'An agent may add ordered subtasks to its own task only. Create an independent one there.'
  throw new ApiError({ code: 'forbidden', message })
}

/** Throws `forbidden` if an agent replaces the start that another has set for a task that is not its own. */
export function checkStartOf(
  q: { readonly tasks: TaskQueries },
  principal: Principal,
  task: Pick<TaskRecord, 'id' | 'parent_id' | 'start_when_ready'>,
): void {
  if (principal.kind !== 'agent' || task.start_when_ready === null || isTaskOfRun(q, principal, task)) return
  const message = 'This task already has an agent that starts when it is ready. Choose another task, or ask a person.'
  throw new ApiError({ code: 'forbidden', message })
}

export const humansOnly = (message: string) => new ApiError({ code: 'humans_only', message })
