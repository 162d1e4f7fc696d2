import { commentState } from '../../src-shared/contract/comments.ts'
import { executorInfos } from '../../src-shared/contract/executor-profiles.ts'
import type { ProjectSettings } from '../../src-shared/contract/projects.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import { attachmentsText } from './rules/attachments.ts'
import { commentsText, contextText, type NeighbourTask } from './rules/context-text.ts'
import type { PromptFacts } from './rules/prompt-parts.ts'
import { isReviewGate, roleOf, type Workflow } from '../domain/workflow/graph.ts'
import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import type { Ground } from '../core/ground.ts'
import { redactorOf } from '../core/redactor-of.ts'
import type { AttachmentRecord } from '../ports/attachment-queries.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { toSettings } from '../core/views.ts'
import { workspaceOf } from '../core/workspace-of.ts'

/** The role and agent that a prompt is for, and the session that it continues. */
export interface PromptTarget {
  readonly task: TaskRecord
  readonly role: string
  /** null for a person, or when the role has no holder yet. */
  readonly agent: AgentRecord | null
  readonly session_id: string | null
  /** Data of a task that is not stored yet. */
  readonly draft?: TaskDraft
}

export interface TaskDraft {
  /** The task's dependencies. */
  readonly dependencies: readonly TaskId[]
  /** The files that the description names. */
  readonly attachments: readonly AttachmentRecord[]
}

/** All facts of a prompt except the review, which must be read from disk. */
export type StaticPromptFacts = Omit<PromptFacts, 'review'>

/** Returns the facts of the prompt for a role of a task, without the review. */
export function promptFacts(context: Ground, q: Queries, told: PromptTarget): StaticPromptFacts {
  const { task, role, agent, session_id, draft } = told
  const project = q.projects.get(task.project_id)
  const settings: Partial<ProjectSettings> = project ? toSettings(project) : {}
  const isNew = session_id === null
  return {
    role,
    title: task.title,
    description: task.description,
    base_branch: workspaceOf(q, task)?.base_branch ?? q.repos.get(task.repo_id)?.default_branch ?? 'main',
    feedback: feedbackFor(q, task),
    resumed: !isNew,
    judges: stateOfRole(context, q, task, role)?.kind === 'gate',
    review_prompt: task.review_config.review_prompt,
    has_mcp: agent !== null && executorInfos[agent.executor].mcp,
    tells_chapters: tellsChapters(context, q, told, settings.chapters),
    template: settings.prompt_templates?.[role] ?? null,
    // A continued session already contains it.
    context: isNew ? surroundings(context, q, task, draft?.dependencies ?? q.dependencies.of(task.id)) : null,
    comments: isNew ? draftComments(context, q, task) : null,
    attachments: isNew ? attachmentsText(draft?.attachments ?? q.attachments.ofTask(task.id)) : null,
    knowledge: isNew ? q.knowledge.injected(task.id) : null,
  }
}

/** Returns the state in which a role works: the task's current one, else the workflow's first with that role. */
export function stateOfRole(
  context: Pick<Ground, 'workflows'>,
  q: Queries,
  task: TaskRecord,
  role: string,
): WorkflowState | null {
  const workflow = workflowOf(context, q, task)
  const current = workflow?.states.get(task.status)
  if (current && roleOf(current) === role) return current
  return workflow?.definition.states.find((state) => roleOf(state) === role) ?? null
}

function workflowOf(context: Pick<Ground, 'workflows'>, q: Queries, task: TaskRecord): Workflow | null {
  const project = q.projects.get(task.project_id)
  return project ? context.workflows.of(project.workflow_definition) : null
}

/** Returns whether the role judges a review, whose diff and check results its prompt contains. */
export function reviews(
  context: Pick<Ground, 'workflows'>,
  q: Queries,
  { task, role }: Pick<PromptTarget, 'task' | 'role'>,
): boolean {
  const state = stateOfRole(context, q, task, role)
  const workflow = workflowOf(context, q, task)
  return workflow !== null && state !== null && isReviewGate(workflow, state)
}

/** Returns whether the project asks a role to divide the change: the one that works on it, or the one that reviews it. */
function tellsChapters(
  context: Pick<Ground, 'workflows'>,
  q: Queries,
  { task, role }: PromptTarget,
  asked: ProjectSettings['chapters'] = 'rules',
): boolean {
  if (asked === 'rules') return false
  if (asked === 'reviewer') return reviews(context, q, { task, role })
  const state = stateOfRole(context, q, task, role)
  return state !== null && state.kind !== 'gate'
}

/** Returns the feedback of the last rejection if the task has not moved since. */
export function feedbackFor(q: Queries, task: TaskRecord): string | null {
  const last = q.transitions.last(task.id)
  return last?.rejection ? last.trigger_reason : null
}

function surroundings(context: Ground, q: Queries, task: TaskRecord, dependencies: readonly TaskId[]): string | null {
  const redact = redactorOf(context, q, task.project_id)
  const neighbour = (found: TaskRecord): NeighbourTask => ({
    title: redact(found.title),
    status: found.status,
    description: found.description === null ? null : redact(found.description),
    summary: lastMessage(q, found, redact),
  })
  const parent = task.parent_id === null ? null : q.tasks.get(task.parent_id)
  const builds_on = dependencies.flatMap((id) => q.tasks.get(id) ?? [])
  return contextText(parent && neighbour(parent), builds_on.map(neighbour))
}

function lastMessage(q: Queries, task: TaskRecord, redact: (text: string) => string): string | null {
  const last = q.executions.byTask(task.id).find((one) => one.status === 'succeeded' && one.summary !== null)
  return last?.summary ? redact(last.summary) : null
}

/** Comments on lines belong to a review that is still being written; a person sends them as feedback, once. */
function draftComments(context: Ground, q: Queries, task: TaskRecord): string | null {
  const redact = redactorOf(context, q, task.project_id)
  const open = q.comments.byTask(task.id).filter((one) => commentState(one) === 'draft' && one.anchor === null)
  return commentsText(open.map(({ author, body }) => ({ author, body: redact(body) })))
}
