import { ApiError } from '../../src-shared/contract/errors.ts'
import type { ExecutionId, RepoId, TaskId } from '../../src-shared/contract/ids.ts'
import type { OperationRequest } from '../../src-shared/contract/operations.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import type { ReviewConfig } from '../../src-shared/contract/projects.ts'
import type { Tx } from '../core/event-feed.ts'
import type { Principal } from '../domain/access/principal.ts'
import { invalidInput } from '../domain/refusal.ts'
import { createTask } from '../tasks/rules/create-task.ts'
import { startState, type Workflow } from '../domain/workflow/graph.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { ApiParts } from './context.ts'
import { checkStackedOn } from './stack-input.ts'
import { givenTaskFields } from './task-fields.ts'

/** A creation request with defaults from the project's settings. */
export type NewTask = Omit<OperationRequest<'tasks.create'>, 'project_id' | 'review_config'> & {
  readonly id: TaskId
  /** The run whose token makes it. */
  readonly created_under?: ExecutionId | null
  readonly review_config: ReviewConfig
}

/** Saves a task after the others, in the requested state or the workflow's first. */
export function newTask(parts: ApiParts, project: ProjectRecord, request: NewTask): TaskRecord {
  return parts.feed.commit((tx) => {
    const place = { number: tx.tasks.nextNumber(project.id), position: tx.tasks.lastPosition(project.id) + 1 }
    const task = addTask(parts, tx, project, { ...request, ...place })
    announce(parts, tx, task)
    return task
  })
}

/** Saves a task in a transaction. Nobody hears of it before `announce`. */
function addTask(
  parts: ApiParts,
  tx: Tx,
  project: ProjectRecord,
  request: NewTask & Pick<TaskRecord, 'number' | 'position'>,
): TaskRecord {
  const task = makeTask(parts, tx, project, request)
  tx.tasks.add(task)
  bindAttachments(parts, tx, task)
  return task
}

/** Returns a task to save in a transaction, if it may be. */
export function makeTask(
  parts: ApiParts,
  tx: Tx,
  project: ProjectRecord,
  { number, position, ...request }: NewTask & Pick<TaskRecord, 'number' | 'position'>,
): TaskRecord {
  const task: TaskRecord = createTask({ ...factsOf(parts, project, request), number, position }, tx.now())
  // Nothing is stacked on a new task.
  if (task.stacked_on !== null) checkStackedOn(tx, task)
  return task
}

/** Gives a saved task the attachments that its description names. */
export function bindAttachments({ engine }: ApiParts, tx: Tx, task: TaskRecord): void {
  const refusal = engine.attachments.bind(tx, task, task.description)
  if (refusal) throw new ApiError(refusal)
}

/** Emits the event of a new task. Returns what it shows of it, which is the task with its dependencies. */
export function announce({ engine }: ApiParts, tx: Tx, task: TaskRecord): Task {
  const shown = engine.views.task(task)
  tx.emit('task.created', { project_id: task.project_id, task_id: task.id, task: shown })
  return shown
}

/** Returns the task that a request would make, without writing it. */
export function draftTask(parts: ApiParts, project: ProjectRecord, request: NewTask): TaskRecord {
  const at = new Date(parts.clock.now()).toISOString()
  return createTask({ ...factsOf(parts, project, request), number: 0, position: 0 }, at)
}

/** Fills in defaults from the project's settings. */
export function withDefaults<T extends Pick<OperationRequest<'tasks.create'>, 'review_config'>>(
  { engine, newId }: ApiParts,
  principal: Principal,
  project: ProjectRecord,
  { review_config: given, ...fields }: T,
) {
  const review_config = { ...engine.views.settings(project).default_review_config, ...defined(given ?? {}) }
  const created_under = principal.kind === 'agent' ? principal.execution_id : null
  return { ...fields, id: newId() as TaskId, created_under, review_config }
}

/** Returns all fields of a new task except its position. */
function factsOf(parts: ApiParts, project: ProjectRecord, request: NewTask) {
  const workflow = parts.workflows.of(project.workflow_definition)
  const state = startState(workflow, request.status ?? null)
  if (!state) {
    throw invalid('status', `A new task starts in a state of kind backlog or initial, not in ${request.status ?? ''}.`)
  }
  const {
    id,
    title,
    review_config,
    status: _,
    repo_id: _repo,
    parent_id: _parent,
    subtask_mode: _mode,
    created_under = null,
    ...fields
  } = request
  return {
    ...givenTaskFields(fields),
    created_under,
    held_to: created_under && parts.engine.authority.rulesOf(created_under),
    ...resolveParent(parts, project, workflow, request),
    id,
    title,
    review_config,
    project_id: project.id,
    status: state.name,
  }
}

/**
 * Checks a subtask's parent: in the same project, not finished, and, for an ordered subtask, with the same
 * repository.
 */
function resolveParent(
  parts: ApiParts,
  project: ProjectRecord,
  workflow: Workflow,
  request: NewTask,
): Pick<TaskRecord, 'parent_id' | 'subtask_mode' | 'repo_id'> {
  const { read } = parts.store
  const repos = read.repos.byProject(project.id)
  const repoWith = (id: RepoId | undefined) => (id === undefined ? repos[0] : repos.find((one) => one.id === id))
  if (request.parent_id === undefined) {
    if (request.subtask_mode !== undefined) throw invalid('subtask_mode', 'Only a subtask has a mode. Set parent_id.')
    const repo = repoWith(request.repo_id) ?? noSuchRepository()
    return { parent_id: null, subtask_mode: null, repo_id: repo.id }
  }
  const parent = read.tasks.get(request.parent_id)
  if (parent?.project_id !== project.id) throw invalid('parent_id', 'The parent must be a task of the same project.')
  if (workflow.states.get(parent.status)?.kind === 'terminal') {
    throw new ApiError({
      code: 'task_terminal',
      message: 'The parent is finished. Create an independent task instead.',
    })
  }
  const subtask_mode = request.subtask_mode ?? 'independent'
  const repo = repoWith(request.repo_id ?? parent.repo_id) ?? noSuchRepository()
  if (subtask_mode === 'ordered' && repo.id !== parent.repo_id) {
    throw invalid('repo_id', "An ordered subtask works in its parent's workspace, hence in its repository.")
  }
  return { parent_id: parent.id, subtask_mode, repo_id: repo.id }
}

function noSuchRepository(): never {
  throw invalid('repo_id', 'The project has no such repository.')
}

const invalid = (path: string, message: string) => new ApiError(invalidInput(path, message))

/** Returns the keys that have a value. */
export function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never
}
