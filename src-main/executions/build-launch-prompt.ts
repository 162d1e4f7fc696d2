import { composeParts, type PromptFacts } from './rules/prompt-parts.ts'
import type { PromptPart } from '../../src-shared/contract/prompts.ts'
import type { Ground } from '../core/ground.ts'
import type { RunGround } from './run-ground.ts'
import { imagesIn, withPaths } from './attachments.ts'
import { messageParts } from './message-prompt.ts'
import { promptFacts, reviews, type PromptTarget } from './prompt-facts.ts'
import { storedParts } from './prompt-record.ts'
import { redactorOf } from '../core/redactor-of.ts'
import type { PromptImage } from '../ports/executors.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'

export interface LaunchPrompt {
  readonly parts: readonly PromptPart[]
  /** The images that the prompt names. */
  readonly images: readonly PromptImage[]
  /** A file with the project's knowledge for the task; empty when there is none. */
  readonly knowledge_file: string
}

/**
 * Builds the prompt for the start of a run from current data; a reviewer's contains the diff and the check results.
 */
export async function buildLaunchPrompt(
  context: RunGround,
  worktrees: Worktrees,
  place: { readonly task: TaskRecord; readonly record: ExecutionRecord; readonly agent: AgentRecord },
  signal: AbortSignal,
): Promise<LaunchPrompt> {
  const { task, record, agent } = place
  const known = context.store.read.knowledge.injected(task.id)
  const knowledge_file = known === null ? '' : await context.logs.writeKnowledge(task.id, known)
  const parts = await partsFor(context, worktrees, { task, record, agent }, signal)
  const images = await imagesIn(context, task, parts)
  return { parts: withPaths(context, task, parts), images, knowledge_file }
}

async function partsFor(
  context: Ground,
  worktrees: Worktrees,
  { task, record, agent }: { readonly task: TaskRecord; readonly record: ExecutionRecord; readonly agent: AgentRecord },
  signal: AbortSignal,
): Promise<readonly PromptPart[]> {
  // A prompt override replaces all generated parts.
  if (record.overrides.prompt !== undefined) return storedParts(record)
  const { role, session_id, overrides } = record
  const told = { task, role, agent, session_id }
  if (overrides.message) return messageParts(context, context.store.read, told, overrides.message.text)
  return await buildPrompt(context, worktrees, told, signal)
}

/** Builds the prompt that a run would get now, including the diff, which is read from disk. */
export async function buildPrompt(
  context: Ground,
  worktrees: Worktrees,
  told: PromptTarget,
  signal: AbortSignal,
  more: Partial<Pick<PromptFacts, 'knowledge' | 'template' | 'feedback'>> = {},
): Promise<PromptPart[]> {
  const { read } = context.store
  const review = reviews(context, read, told) ? await reviewFacts(context, worktrees, told.task, signal) : null
  return composeParts({ ...promptFacts(context, read, told), ...more, review })
}

async function reviewFacts(
  context: Ground,
  worktrees: Worktrees,
  task: TaskRecord,
  signal: AbortSignal,
): Promise<NonNullable<PromptFacts['review']>> {
  const ci = context.store.read.reviews.latest(task.id)?.step_results ?? []
  const patch = await patchOf(context, worktrees, worktrees.of(task), signal)
  return { patch: redactorOf(context, context.store.read, task.project_id)(patch), ci }
}

/** Returns the task's diff; a task without a branch has none. */
async function patchOf(
  context: Ground,
  worktrees: Worktrees,
  workspace: WorkspaceRecord | null,
  signal: AbortSignal,
): Promise<string> {
  if (workspace === null || workspace.base_commit === null) return ''
  return (
    await context.places.of(workspace.task_id).diffs.diff(await worktrees.ref(workspace), 'branch', null, { signal })
  ).patch
}
