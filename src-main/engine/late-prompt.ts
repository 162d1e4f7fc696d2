import { completePrompt } from '../domain/task/prompt.ts'
import { isReviewGate, roleOf } from '../domain/workflow/graph.ts'
import type { EngineContext } from './context.ts'
import type { ExecutionRecord, TaskRecord, WorkspaceRecord } from './store-port.ts'
import type { Worktrees } from './worktrees.ts'

export interface LatePrompt {
  readonly prompt: string
  /** A file with what the project knows, empty when it knows nothing that helps. */
  readonly knowledge_file: string
}

/** What an agent is told beside its queued prompt: the project's knowledge, and to a judge the diff and the checks. */
export async function latePrompt(
  context: EngineContext,
  worktrees: Worktrees,
  place: { readonly task: TaskRecord; readonly record: ExecutionRecord; readonly workspace: WorkspaceRecord },
  signal: AbortSignal,
): Promise<LatePrompt> {
  const { task, record, workspace } = place
  const known = context.store.read.knowledge.injected(task.id)
  const knowledge_file = known === null ? '' : await context.logs.writeKnowledge(task.id, known)
  // Whoever wrote the prompt by hand has said all, and a session that goes on has read it.
  if (record.overrides.prompt !== undefined) return { prompt: record.prompt, knowledge_file }
  const review = judges(context, task, record) ? await reviewFacts(context, worktrees, task, workspace, signal) : null
  const knowledge = record.session_id === null ? known : null
  return { prompt: completePrompt({ prompt: record.prompt, knowledge, review }), knowledge_file }
}

function judges(context: EngineContext, task: TaskRecord, record: ExecutionRecord): boolean {
  const project = context.store.read.projects.get(task.project_id)
  const state = project && context.workflows.of(project.workflow_definition).states.get(task.status)
  return state !== undefined && state !== null && isReviewGate(state) && roleOf(state) === record.role
}

async function reviewFacts(
  context: EngineContext,
  worktrees: Worktrees,
  task: TaskRecord,
  workspace: WorkspaceRecord,
  signal: AbortSignal,
) {
  const { patch } = await context.workspaces.diff(await worktrees.ref(workspace), 'branch', null, { signal })
  const project = context.store.read.projects.get(task.project_id)
  const redact = context.redactor(project?.settings.redaction_patterns ?? [])
  return { patch: redact(patch), ci: context.store.read.reviews.latest(task.id)?.step_results ?? [] }
}
