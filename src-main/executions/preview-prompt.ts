import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { Prompt, PromptPart } from '../../src-shared/contract/prompts.ts'
import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import { attachmentsNamedIn } from '../../src-shared/contract/attachment-text.ts'
import { placeAttachments } from './rules/attachments.ts'
import { estimateTokens } from './rules/knowledge-text.ts'
import { isForKnownTask, promptText } from './rules/prompt-parts.ts'
import { hookHas, hooksAt, roleOf, workStateOf } from '../domain/workflow/graph.ts'
import type { Ground } from '../core/ground.ts'
import { knowledgeFor } from './knowledge.ts'
import { withPaths } from './attachments.ts'
import { buildPrompt } from './build-launch-prompt.ts'
import { KnowledgeOptions } from './knowledge.ts'
import { sessionOf } from './messages.ts'
import { feedbackFor, stateOfRole, type TaskDraft } from './prompt-facts.ts'
import { storedParts } from './prompt-record.ts'
import type { AttachmentRecord } from '../ports/attachment-queries.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { toSettings } from '../core/views.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'

interface PreviewRequest {
  readonly task: TaskRecord
  /** null: the role that works next. */
  readonly role: string | null
  /** A template to preview; null: the built-in one; undefined: the project's. */
  readonly template?: string | null
  /** Data of a task that is not stored yet. */
  readonly draft?: Pick<TaskDraft, 'dependencies'>
}

export interface Prompts {
  /** Returns the prompt that a run of the role would get now. */
  preview(request: PreviewRequest, signal: AbortSignal): Promise<Prompt | Refusal>
  /** Returns the prompt that an execution got. */
  of(record: ExecutionRecord): Prompt
}

export function createPrompts(context: Ground, worktrees: Worktrees): Prompts {
  const { read } = context.store
  return {
    preview: async ({ task, role: asked, template, draft: given }, signal) => {
      const role = asked ?? nextRole(context, task)
      const state = role === null ? null : stateOfRole(context, read, task, role)
      if (role === null || state === null) return noRole(asked)
      const holder = task.roles[role]
      const agent = holder?.type === 'agent' ? read.agents.get(holder.id) : null
      const agent_id = agent?.id ?? null
      // A task that came back with feedback continues its session.
      const session_id = feedbackFor(read, task) === null ? null : sessionOf(read, { task_id: task.id, role, agent_id })
      const draft = given && { ...given, attachments: filesNamedIn(read, task) }
      const told = { task, role, agent, session_id, ...(draft && { draft }) }
      const knowledge = session_id === null ? knowledgeAhead(context, task, state) : null
      const parts = await buildPrompt(context, worktrees, told, signal, {
        knowledge,
        ...(template !== undefined && { template }),
      })
      return toPrompt(
        { role, agent_id, resumed: session_id !== null },
        draft ? placeAttachments(parts, draft.attachments) : withPaths(context, task, parts),
      )
    },
    of: (record) => {
      const parts = storedParts(record)
      const { role, agent_id } = record
      return toPrompt({ role, agent_id, resumed: isForKnownTask(parts) }, parts)
    },
  }
}

function toPrompt(about: Pick<Prompt, 'role' | 'agent_id' | 'resumed'>, told: readonly PromptPart[]): Prompt {
  const prompt = promptText(told)
  const parts = told.map((part) => ({ ...part, ...sizeOf(part.text) }))
  return { ...about, parts, prompt, ...sizeOf(prompt) }
}

function sizeOf(text: string): { readonly characters: number; readonly tokens: number } {
  return { characters: text.length, tokens: estimateTokens(text) }
}

/** Returns the files that a task will get from its description, in the order in which it will have them. */
function filesNamedIn(q: Queries, { project_id, description }: TaskRecord): readonly AttachmentRecord[] {
  const named = new Set(attachmentsNamedIn(description ?? ''))
  return q.attachments.unbound(project_id).filter(({ id }) => named.has(id))
}

/** Returns the role of the current state, or of the next working state on the task's way. */
function nextRole(context: Ground, task: TaskRecord): string | null {
  const project = context.store.read.projects.get(task.project_id)
  const workflow = project ? context.workflows.of(project.workflow_definition) : null
  const current = workflow?.states.get(task.status)
  if (!workflow || !current) return null
  const next = workStateOf(workflow, current)
  return (
    roleOf(current) ??
    (next && roleOf(next)) ??
    workflow.definition.states.map(roleOf).find((one) => one !== null) ??
    null
  )
}

/** Returns the knowledge that the entry into the state will find; once the task is there, what it has found. */
function knowledgeAhead(context: Ground, task: TaskRecord, state: WorkflowState): string | null {
  const { read } = context.store
  const project = read.projects.get(task.project_id)
  const workflow = project && context.workflows.of(project.workflow_definition)
  const isThere = task.status === state.name
  const hooks = isThere ? [] : [...hooksAt(state, 'before_enter'), ...hooksAt(state, 'on_enter')]
  const hook = workflow && hooks.find((one) => hookHas(workflow, one, 'injects_knowledge'))
  if (!project || !hook) return read.knowledge.injected(task.id)
  if (!toSettings(project).knowledge.enabled) return null
  return knowledgeFor(context, project, task, KnowledgeOptions.parse(hook.config ?? {}))?.text ?? null
}

function noRole(asked: string | null): Refusal {
  return asked === null
    ? { code: 'unknown_role', message: 'No one is working on this task. Choose a role of its workflow.' }
    : { code: 'unknown_role', message: `The workflow has no state where ${asked} works. Name another role.` }
}
