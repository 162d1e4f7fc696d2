import { ApiError } from '../../../src-shared/contract/errors.ts'
import { withoutAttachments } from '../../../src-shared/contract/attachment-text.ts'
import type { TaskTemplateId } from '../../../src-shared/contract/ids.ts'
import { givenFields } from '../../../src-shared/lang/given-fields.ts'
import type { Tx } from '../../core/event-feed.ts'
import type { Principal } from '../../domain/access/principal.ts'
import { invalidInput } from '../../domain/refusal.ts'
import { rolesOf } from '../../domain/workflow/roles.ts'
import type { ProjectRecord } from '../../ports/project-queries.ts'
import type { TaskRecord } from '../../ports/task-queries.ts'
import type { TaskTemplateRecord } from '../../ports/task-template-queries.ts'
import { checkRoles, isAssignable } from '../assignee.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findProject, findTask, findTaskTemplate, throwNotFound } from '../find.ts'

type Names = `task_templates.${'list' | 'create' | 'get' | 'update' | 'delete'}`

const given = givenFields<TaskTemplateRecord>()

/** Defaults of a template's fields. */
const openFields = {
  title: '',
  description: null,
  priority: 0,
  labels: [] as string[],
  review_config: {},
  roles: {},
  repo_id: null,
} as const

/** Handlers for a project's task templates. */
export function createTaskTemplateHandlers(parts: ApiParts): Handlers<Names> {
  const { feed, newId } = parts
  const { read } = parts.store
  const view = (template: TaskTemplateRecord) => currentView(parts, template)
  return {
    'task_templates.list': ({ project_id }) => ({
      items: read.task_templates.ofProject(findProject(read, project_id).id).map(view),
    }),
    'task_templates.create': ({ project_id, task_id, ...fields }, { principal }) => {
      const project = findProject(read, project_id)
      const start = task_id === undefined ? openFields : fieldsOf(parts, project, findTask(read, task_id))
      return feed.commit((tx) => {
        const at = tx.now()
        const id = newId() as TaskTemplateId
        const template = { ...start, ...given(fields), id, project_id, created_at: at, updated_at: at }
        check(parts, tx, principal, project, template)
        return save(parts, tx, template)
      })
    },
    'task_templates.get': ({ template_id }) => view(findTaskTemplate(read, template_id)),
    'task_templates.update': ({ template_id, ...fields }, { principal }) => {
      const project = findProject(read, findTaskTemplate(read, template_id).project_id)
      return feed.commit((tx) => {
        const current = tx.task_templates.get(template_id) ?? throwNotFound('task_template')
        const changed = given(fields)
        check(parts, tx, principal, project, { ...changed, id: template_id })
        return save(parts, tx, { ...current, ...changed, updated_at: tx.now() })
      })
    },
    'task_templates.delete': ({ template_id }) => {
      feed.commit((tx) => {
        const { project_id } = tx.task_templates.get(template_id) ?? throwNotFound('task_template')
        tx.task_templates.delete(template_id)
        tx.emit('task_template.updated', { project_id, template_id, template: null })
      })
      return null
    },
  }
}

/**
 * Returns a template's fields from a task, without values equal to the project's settings, so that it follows those.
 */
function fieldsOf(parts: ApiParts, project: ProjectRecord, task: TaskRecord) {
  if (task.project_id !== project.id) {
    throw new ApiError(invalidInput('task_id', 'The task must be one of this project.'))
  }
  const { title, description, priority, labels, review_config, roles } = task
  const usual = parts.engine.views.settings(project).default_review_config
  const { ci_steps, review_prompt } = review_config
  const primary = parts.store.read.repos.byProject(project.id).find(({ is_primary }) => is_primary)
  return {
    title,
    description,
    priority,
    labels,
    review_config: {
      ...(ci_steps.join('\n') !== usual.ci_steps.join('\n') && { ci_steps }),
      ...(review_prompt !== usual.review_prompt && { review_prompt }),
    },
    roles: currentRoles(parts, project, roles),
    repo_id: task.repo_id === primary?.id ? null : task.repo_id,
  }
}

function save(parts: ApiParts, tx: Tx, given: TaskTemplateRecord): TaskTemplateRecord {
  const { id: template_id, project_id, description } = given
  const record = { ...given, description: description === null ? null : withoutAttachments(description) }
  const template = currentView(parts, record)
  tx.task_templates.put(record)
  tx.emit('task_template.updated', { project_id, template_id, template })
  return template
}

/** Throws if the given fields are invalid. */
function check(
  parts: ApiParts,
  tx: Tx,
  principal: Principal,
  project: ProjectRecord,
  { id, name, roles, repo_id }: Pick<TaskTemplateRecord, 'id'> & Partial<TaskTemplateRecord>,
): void {
  const isTaken = (one: TaskTemplateRecord) => one.id !== id && one.name.toLowerCase() === name?.toLowerCase()
  if (tx.task_templates.ofProject(project.id).some(isTaken)) {
    throw new ApiError(invalidInput('name', `Another template has the name ${name ?? ''}. Choose another.`))
  }
  if (repo_id != null && tx.repos.get(repo_id)?.project_id !== project.id) {
    throw new ApiError(invalidInput('repo_id', 'The project has no such repository.'))
  }
  checkRoles(parts, principal, project, roles ?? {})
}

/** Leaves out roles that the workflow no longer has, and holders who can no longer have one. */
function currentView(parts: ApiParts, template: TaskTemplateRecord): TaskTemplateRecord {
  if (Object.keys(template.roles).length === 0) return template
  const project = findProject(parts.store.read, template.project_id)
  return { ...template, roles: currentRoles(parts, project, template.roles) }
}

function currentRoles(parts: ApiParts, project: ProjectRecord, roles: TaskRecord['roles']): TaskRecord['roles'] {
  const known = rolesOf(parts.workflows.of(project.workflow_definition))
  const current = Object.entries(roles).filter(([role, one]) => known.has(role) && isAssignable(parts, project, one))
  return Object.fromEntries(current)
}
