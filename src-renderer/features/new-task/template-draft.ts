import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Assignee } from '../../../src-shared/contract/tasks.ts'
import type { TaskTemplate } from '../../../src-shared/contract/task-templates.ts'
import { emptyDraft, reviewConfigOf, type TaskDraft } from './task-draft.ts'

const fieldNames = [
  ...(['title', 'description', 'steps', 'withoutChecks', 'reviewPrompt', 'priority', 'labels'] as const),
  ...(['repoId', 'agentId', 'roles'] as const),
] as const
/** The fields of a draft that a template has. */
export type TemplateDraft = Pick<TaskDraft, (typeof fieldNames)[number]>
type TemplateFields = Omit<OperationInput<'task_templates.create'>, 'project_id' | 'name' | 'task_id'>

/** Returns a template as a draft. An agent with the working role becomes the draft's agent. */
export function readTemplate(template: TaskTemplate, workingRole: string): TemplateDraft {
  const { title, description, priority, labels, review_config, repo_id: repoId } = template
  const { ci_steps: steps, review_prompt: reviewPrompt = null } = review_config
  const { [workingRole]: worker, ...others } = template.roles
  const isAgent = worker?.type === 'agent'
  return {
    title,
    description: description ?? '',
    steps: steps?.join('\n') ?? '',
    withoutChecks: steps?.length === 0,
    reviewPrompt,
    priority,
    labels,
    repoId,
    agentId: isAgent ? worker.id : null,
    roles: isAgent ? others : template.roles,
  }
}

/** Returns the assignees of a draft including its agent. */
export function assigneesOf({ roles, agentId }: TemplateDraft, workingRole: string): Record<string, Assignee> {
  if (agentId === null) return { ...roles }
  return { ...roles, [workingRole]: { type: 'agent', id: agentId as Assignee['id'] } as Assignee }
}

/** Returns a draft as a template stores it. */
export function templateFields(draft: TemplateDraft, workingRole: string): TemplateFields {
  return {
    title: draft.title,
    description: draft.description.trim() === '' ? null : draft.description,
    priority: draft.priority,
    labels: [...draft.labels],
    review_config: reviewConfigOf(draft),
    roles: assigneesOf(draft, workingRole),
    repo_id: draft.repoId,
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/**
 * Returns a draft filled from a template: fields that are empty or still as the previous template
 * filled them. null for `next` clears what the previous one filled.
 */
export function fillDraft(
  draft: TemplateDraft,
  next: TemplateDraft | null,
  before: TemplateDraft | null = null,
): TemplateDraft {
  const empty: TemplateDraft = emptyDraft(null)
  const filled = next ?? empty
  const isOpen = (name: keyof TemplateDraft) =>
    isSame(draft[name], empty[name]) || (before !== null && isSame(draft[name], before[name]))
  const taken = fieldNames.filter((name) => name !== 'roles' && isOpen(name))
  // Checks and "no checks" exclude each other, so either counts as the person's choice.
  const hasChecks = !isOpen('steps') || !isOpen('withoutChecks')
  const own = hasChecks ? taken.filter((name) => name !== 'steps' && name !== 'withoutChecks') : taken
  const { roles: _roles, ...draftFields } = draft
  return {
    ...draftFields,
    ...Object.fromEntries(own.map((name) => [name, filled[name]])),
    roles: fillRoles(draft.roles, filled.roles, before?.roles ?? {}),
  }
}

type Roles = TaskDraft['roles']

function fillRoles(roles: Roles, next: Roles, before: Roles): Roles {
  const chosen = Object.entries(roles).filter(([role, one]) => !isSame(one, before[role]))
  return { ...next, ...Object.fromEntries(chosen) }
}

/** Returns the fields of `now` that differ from `before`. */
export function changedFields(now: TemplateFields, before: TemplateFields): TemplateFields {
  const names = Object.keys(now) as (keyof TemplateFields)[]
  return Object.fromEntries(names.filter((name) => !isSame(now[name], before[name])).map((name) => [name, now[name]]))
}
