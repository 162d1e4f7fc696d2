import { ApiError } from '../../src-shared/contract/errors.ts'
import type { RepoId, TaskId } from '../../src-shared/contract/ids.ts'
import type { ReviewConfig } from '../../src-shared/contract/projects.ts'
import type { ProjectRecord, TaskRecord } from '../engine/store-port.ts'
import type { ApiParts } from './context.ts'

export interface NewTask {
  readonly id: TaskId
  readonly title: string
  readonly description: string | null
  readonly review_config: ReviewConfig
  readonly status?: string | undefined
  readonly labels?: readonly string[] | undefined
  readonly priority?: number | undefined
  readonly repo_id?: RepoId | undefined
}

/** Writes a task behind the others, in the state that was asked for or the workflow's first. */
export function newTask(parts: ApiParts, project: ProjectRecord, request: NewTask): TaskRecord {
  const { read } = parts.store
  const workflow = parts.workflows.of(project.workflow_definition)
  const state = request.status === undefined ? workflow.entry : workflow.states.get(request.status)
  if (state?.kind !== 'backlog' && state?.kind !== 'initial') {
    const message = `A new task starts in a state of kind backlog or initial, not in ${request.status ?? ''}.`
    throw new ApiError({ code: 'validation_failed', message, details: { issues: [{ path: 'status', message }] } })
  }
  const repos = read.repos.byProject(project.id)
  const repo = request.repo_id === undefined ? repos[0] : repos.find((one) => one.id === request.repo_id)
  if (!repo) {
    const message = 'The project has no such repository.'
    throw new ApiError({ code: 'validation_failed', message, details: { issues: [{ path: 'repo_id', message }] } })
  }
  const now = new Date(parts.clock.now()).toISOString()
  const task: TaskRecord = {
    id: request.id,
    project_id: project.id,
    repo_id: repo.id,
    parent_id: null,
    subtask_mode: null,
    title: request.title,
    description: request.description,
    status: state.name,
    version: 1,
    entry_barrier: false,
    review_config: request.review_config,
    roles: {},
    labels: [...(request.labels ?? [])],
    priority: request.priority ?? 0,
    position: read.tasks.lastPosition(project.id) + 1,
    review_passed_at: null,
    error_annotation: null,
    archived: false,
    active_execution_id: null,
    context_holder: null,
    review_summary: null,
    diff_stat: null,
    created_at: now,
    updated_at: now,
  }
  parts.feed.commit((tx) => {
    tx.tasks.put(task)
    tx.emit('task.created', { project_id: project.id, task_id: task.id, task: parts.engine.views.task(task) })
  })
  return task
}
