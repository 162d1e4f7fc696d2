import { isLaterId } from '../../src-shared/lang/compare-ids.ts'
import { z } from 'zod'
import type { AgentId, KnowledgeId } from '../../src-shared/contract/ids.ts'
import {
  composeKnowledge,
  composeCapture,
  describeSource,
  firstCharacters,
  type Authorship,
  type InjectedKnowledge,
} from './rules/knowledge-text.ts'
import { haveSharedSubject } from './rules/shared-subject.ts'
import { roleOf, type Workflow } from '../domain/workflow/graph.ts'
import type { Ground } from '../core/ground.ts'
import type { SkipReason } from '../core/plugin-result.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { KnowledgeRecord } from '../ports/knowledge-queries.ts'
import type { ProjectRecord, ProjectQueries } from '../ports/project-queries.ts'
import type { TaskRecord, TaskQueries } from '../ports/task-queries.ts'
import { refOf, toSettings } from '../core/views.ts'
import type { AgentQueries } from '../ports/agent-queries.ts'

/** The contract's limit for a title. */
const maxTitle = 300

/**
 * Stores the knowledge for the task's next agents: the entries that match its title and description, within the
 * budget.
 * Returns null, or why there are none; then the stored knowledge is removed.
 */
export function injectKnowledge(
  context: Ground,
  project: ProjectRecord,
  task: TaskRecord,
  options: { readonly max_tokens: number; readonly limit: number },
): InjectedKnowledge | SkipReason {
  const settings = toSettings(project)
  const told = settings.knowledge.enabled ? knowledgeFor(context, project, task, options) : null
  const text = told?.text ?? null
  if (context.store.read.knowledge.injected(task.id) !== text) {
    context.feed.commit((tx) => {
      tx.knowledge.setInjected(task.id, text)
    })
  }
  return told ?? (settings.knowledge.enabled ? 'not_needed' : 'disabled')
}

/** Returns the project's entries that match a task, within the budget. */
export function knowledgeFor(
  context: Ground,
  project: ProjectRecord,
  task: TaskRecord,
  { max_tokens, limit }: { readonly max_tokens: number; readonly limit: number },
): InjectedKnowledge | null {
  const query = `${task.title}\n${task.description ?? ''}`
  const { knowledge, redaction_patterns } = toSettings(project)
  const matching = context.store.read.knowledge.search(
    task.project_id,
    query,
    { status: 'accepted', task_id: null },
    { offset: 0, limit: limit * 3 },
  )
  const found = matching
    .filter((one) => !isCaptured(one) || isRelevant(context, task, one, knowledge.from_others === true))
    .slice(0, limit)
  // Redact before cutting: a pattern finds no secret that is cut in two. An entry may be older than a pattern.
  const redact = context.redactor(redaction_patterns)
  const entries = found.map((one) => ({
    title: redact(one.title),
    body: redact(one.body),
    source: describeSource(authorship(context.store.read, one)),
    // A person's own words stand as they are; in what an agent wrote no line may pass for another entry.
    isQuoted: !one.source.by.startsWith('user:'),
    isHistory: isCaptured(one),
  }))
  return composeKnowledge(entries, max_tokens)
}

/** Returns who wrote, accepted and edited an entry, by the names that agents know. */
function authorship(
  q: { readonly agents: AgentQueries; readonly tasks: TaskQueries; readonly projects: ProjectQueries },
  { source, accepted_by, edited_by }: KnowledgeRecord,
): Authorship {
  const task = source.task_id === null ? null : q.tasks.get(source.task_id)
  return {
    by: source.by,
    agent: source.by.startsWith('agent:')
      ? (q.agents.get(source.by.slice('agent:'.length) as AgentId)?.name ?? null)
      : null,
    task: task === null ? null : refOf(q, task),
    accepted_by,
    edited_by,
  }
}

/** Returns whether the service wrote the entry at the end of a task, and no person has edited it. */
const isCaptured = ({ source, edited_by }: KnowledgeRecord): boolean => source.by === 'system' && edited_by === null

/**
 * Returns whether the record of an earlier task may be told at another: it is about the same files or words, and of the
 * same person unless the project shares them.
 */
function isRelevant(
  { store }: Ground,
  task: TaskRecord,
  { title, body, source }: KnowledgeRecord,
  from_others: boolean,
): boolean {
  if (source.task_id === task.id) return true
  const subject = { title: task.title, text: task.description ?? '' }
  if (!haveSharedSubject(subject, { title, text: body })) return false
  const other = source.task_id === null ? null : store.read.tasks.get(source.task_id)
  if (from_others || !other) return true
  const [mine, theirs] = [personOf(store.read, task), personOf(store.read, other)]
  return mine === null || theirs === null || mine === theirs
}

/** Returns whose work a task is: the person assigned as its coder, or the owner of that agent. */
function personOf(q: { readonly agents: AgentQueries }, { roles }: TaskRecord): string | null {
  const assignee = roles['coder'] ?? roles['assignee'] ?? Object.values(roles)[0]
  if (!assignee) return null
  return assignee.type === 'user' ? assignee.id : (q.agents.get(assignee.id)?.owner_id ?? null)
}

/**
 * Keeps the lesson of a task, with its source: the last message of its last successful worker, and the feedback of its
 * gates. A task has one such entry, which is replaced until a person edits it. Returns why there is nothing to keep, or
 * null.
 */
export function captureKnowledge(
  context: Ground,
  { project, task, workflow }: { readonly project: ProjectRecord; readonly task: TaskRecord; workflow: Workflow },
  options: { readonly max_chars: number },
): SkipReason | null {
  const { knowledge, redaction_patterns } = toSettings(project)
  if (!knowledge.enabled) return 'disabled'
  const redact = context.redactor(redaction_patterns)
  const worker = lastWorker(context, task, workflow)
  const summary = worker?.summary ?? null
  const body = composeCapture(
    { summary: summary === null ? null : redact(summary), rejections: rejectionsOf(context, task, workflow, redact) },
    options.max_chars,
  )
  if (body === null) return 'not_needed'
  const title = firstCharacters(redact(task.title), maxTitle)
  const source = { by: 'system', task_id: task.id, execution_id: worker?.id ?? null }
  return context.feed.commit((tx) => {
    const found = tx.knowledge.bySourceTask(task.id)
    // An entry that an agent wrote at its task is kept as it is.
    const known = found?.source.by === 'system' ? found : null
    if (known !== null && known.edited_by !== null) return 'not_needed'
    const now = tx.now()
    const entry: KnowledgeRecord = {
      id: known?.id ?? (context.newId() as KnowledgeId),
      project_id: task.project_id,
      title,
      body,
      source,
      status: 'accepted',
      accepted_by: null,
      edited_by: null,
      created_at: known?.created_at ?? now,
      updated_at: now,
    }
    if (known?.title !== title || known.body !== body) {
      tx.knowledge.put(entry)
      tx.emit('knowledge.updated', { project_id: entry.project_id, knowledge_id: entry.id, entry })
    }
    return null
  })
}

/** Returns the last successful execution that did the task's work, whatever its role is called. */
function lastWorker(context: Ground, task: TaskRecord, workflow: Workflow): ExecutionRecord | null {
  const working = workflow.definition.states.filter((state) => state.kind === 'active').map(roleOf)
  const done = context.store.read.executions
    .byTask(task.id)
    .filter((one) => one.status === 'succeeded' && working.includes(one.role))
  // IDs grow with time.
  return done.reduce<ExecutionRecord | null>((last, one) => (last && isLaterId(last.id, one.id) ? last : one), null)
}

function rejectionsOf(
  context: Ground,
  task: TaskRecord,
  workflow: Workflow,
  redact: (text: string) => string,
): { gate: string; feedback: string }[] {
  return context.store.read.transitions
    .byTask(task.id)
    .filter((entry) => entry.rejection)
    .map(({ from_state, trigger_reason }) => ({
      gate: workflow.states.get(from_state)?.label ?? from_state,
      feedback: redact(trigger_reason ?? ''),
    }))
}

/** Maximum size in tokens. */
export const KnowledgeOptions = z.strictObject({
  max_tokens: z.int().min(1).max(100_000).default(2_000),
  limit: z.int().min(1).max(100).default(10),
})
