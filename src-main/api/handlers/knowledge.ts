import { z } from 'zod'
import { ApiError, type Refusal } from '../../../src-shared/contract/errors.ts'
import { KnowledgeId, Timestamp } from '../../../src-shared/contract/ids.ts'
import type { KnowledgeFields } from '../../../src-shared/contract/knowledge.ts'
import { givenFields } from '../../../src-shared/lang/given-fields.ts'
import { actorOf, type Principal } from '../../domain/access/principal.ts'
import { canSeeEntry } from '../../domain/access/knowledge.ts'
import type { Tx } from '../../core/event-feed.ts'
import type { KnowledgeFilter, KnowledgeRecord } from '../../ports/knowledge-queries.ts'
import type { ProjectRecord } from '../../ports/project-queries.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findKnowledge, findProject, throwNotFound } from '../find.ts'
import { pageOf, cursorFor, type Page } from '../pages.ts'

type Names =
  | 'knowledge.list'
  | 'knowledge.create'
  | 'knowledge.get'
  | 'knowledge.update'
  | 'knowledge.accept'
  | 'knowledge.delete'

const given = givenFields<KnowledgeRecord>()

/** Handlers for a project's knowledge: search, create, edit, delete. */
export function createKnowledgeHandlers(parts: ApiParts): Handlers<Names> {
  const { store, feed, newId } = parts
  const { read } = store
  const now = () => new Date(parts.clock.now()).toISOString()
  const edit = (id: KnowledgeId, change: (current: KnowledgeRecord) => KnowledgeRecord) =>
    feed.commit((tx) => {
      const edited = { ...change(tx.knowledge.get(id) ?? throwNotFound('knowledge')), updated_at: now() }
      putKnowledge(tx, edited)
      return edited
    })
  const withFields = (current: KnowledgeRecord, { title, body, ...fields }: EditedFields): KnowledgeRecord => {
    const redact = redactorOf(parts, findProject(read, current.project_id))
    return {
      ...current,
      ...given(fields),
      ...(title !== undefined && { title: redact(title) }),
      ...(body !== undefined && { body: redact(body) }),
    }
  }
  /** Notifies of the first proposal of a task that waits, and of no other. */
  const notifyOnce = (tx: Tx, { project_id, source }: KnowledgeRecord): void => {
    const task = source.task_id === null ? null : tx.tasks.get(source.task_id)
    const filter = { status: 'proposed', task_id: source.task_id } as const
    if (task === null || tx.knowledge.list(project_id, filter, { after: null, limit: 1 }).length > 0) return
    // Without the words of the proposal: other runs can read notifications.
    parts.engine.notify(tx, task, { event_type: 'knowledge.proposed', body: null })
  }
  return {
    'knowledge.list': (input, { principal }) => {
      const task_id = principal.kind === 'agent' && input.status === 'proposed' ? principal.task_id : null
      const filter = { status: input.status, task_id }
      return input.q?.trim() ? search(parts, { ...input, q: input.q }, filter) : newest(parts, input, filter)
    },
    'knowledge.create': ({ project_id, title, body, ...fields }, { principal }) => {
      const redact = redactorOf(parts, findProject(read, project_id))
      const at = now()
      const entry: KnowledgeRecord = {
        ...given(fields),
        id: newId() as KnowledgeId,
        project_id,
        title: redact(title),
        body: redact(body),
        source: sourceOf(principal),
        // A run's words become knowledge when a person accepts them.
        status: principal.kind === 'agent' ? 'proposed' : 'accepted',
        accepted_by: null,
        edited_by: null,
        created_at: at,
        updated_at: at,
      }
      feed.commit((tx) => {
        if (entry.status === 'proposed') notifyOnce(tx, entry)
        putKnowledge(tx, entry)
      })
      return entry
    },
    'knowledge.get': ({ knowledge_id }, { principal }) => {
      const entry = findKnowledge(read, knowledge_id)
      return canSeeEntry(principal, entry) ? entry : throwNotFound('knowledge')
    },
    'knowledge.update': ({ knowledge_id, ...fields }, { principal }) =>
      edit(knowledge_id, (current) => ({ ...withFields(current, fields), edited_by: actorOf(principal) })),
    'knowledge.accept': ({ knowledge_id, ...fields }, { principal }) =>
      edit(knowledge_id, (current) => {
        if (current.status === 'accepted') throw new ApiError(alreadyAccepted)
        const accepted = withFields(current, fields)
        const isChanged = accepted.title !== current.title || accepted.body !== current.body
        const by = actorOf(principal)
        return { ...accepted, status: 'accepted', accepted_by: by, edited_by: isChanged ? by : current.edited_by }
      }),
    'knowledge.delete': ({ knowledge_id }) => {
      feed.commit((tx) => {
        const { project_id } = tx.knowledge.get(knowledge_id) ?? throwNotFound('knowledge')
        tx.knowledge.delete(knowledge_id)
        tx.emit('knowledge.updated', { project_id, knowledge_id, entry: null })
      })
      return null
    },
  }
}

type EditedFields = { readonly [F in keyof z.infer<typeof KnowledgeFields>]?: string | undefined }

const alreadyAccepted: Refusal = {
  code: 'already_answered',
  message: 'This entry is accepted already. Edit or delete it instead.',
}

/** Saves an entry and emits its event. */
function putKnowledge(tx: Tx, entry: KnowledgeRecord): void {
  tx.knowledge.put(entry)
  tx.emit('knowledge.updated', { project_id: entry.project_id, knowledge_id: entry.id, entry })
}

function redactorOf(parts: ApiParts, project: ProjectRecord): (text: string) => string {
  return parts.redactor(parts.engine.views.settings(project).redaction_patterns)
}

/** Returns who wrote an entry, with the task and run of an agent. */
function sourceOf(principal: Principal): KnowledgeRecord['source'] {
  const by = actorOf(principal)
  if (principal.kind !== 'agent') return { by, task_id: null, execution_id: null }
  return { by, task_id: principal.task_id, execution_id: principal.execution_id }
}

type Listed = Parameters<Handlers<'knowledge.list'>['knowledge.list']>[0]

function search(
  parts: ApiParts,
  { project_id, q, cursor, limit }: Listed & { q: string },
  filter: KnowledgeFilter,
): Page<KnowledgeRecord> {
  const offset = cursorFor(Offset, cursor)?.offset ?? 0
  const found = parts.store.read.knowledge.search(project_id, q, filter, { offset, limit: limit + 1 })
  return pageOf(found, limit, () => ({ offset: offset + limit }))
}

function newest(
  parts: ApiParts,
  { project_id, cursor, limit }: Listed,
  filter: KnowledgeFilter,
): Page<KnowledgeRecord> {
  const found = parts.store.read.knowledge.list(project_id, filter, {
    after: cursorFor(Cursor, cursor),
    limit: limit + 1,
  })
  return pageOf(found, limit, ({ created_at, id }) => ({ created_at, id }))
}

/** The cursor of a page: a count when sorted by relevance, the last entry when sorted by age. */
const Offset = z.strictObject({ offset: z.int().min(0).max(1_000_000) })
const Cursor = z.strictObject({ created_at: Timestamp, id: KnowledgeId })
