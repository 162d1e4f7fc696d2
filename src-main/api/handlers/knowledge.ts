import { z } from 'zod'
import { KnowledgeId, Timestamp } from '../../../src-shared/contract/ids.ts'
import { givenFields } from '../../../src-shared/lang/given-fields.ts'
import { actorOf, type Principal } from '../../domain/access/principal.ts'
import type { Tx } from '../../core/event-feed.ts'
import type { KnowledgeRecord, ProjectRecord } from '../../ports/store.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findKnowledge, findProject, throwNotFound } from '../find.ts'
import { pageOf, cursorFor, type Page } from '../pages.ts'

type Names = 'knowledge.list' | 'knowledge.create' | 'knowledge.get' | 'knowledge.update' | 'knowledge.delete'

const given = givenFields<KnowledgeRecord>()

/** Handlers for a project's knowledge: search, create, edit, delete. */
export function createKnowledgeHandlers(parts: ApiParts): Handlers<Names> {
  const { store, feed, newId } = parts
  const { read } = store
  const now = () => new Date(parts.clock.now()).toISOString()
  return {
    'knowledge.list': (input) => (input.q?.trim() ? search(parts, { ...input, q: input.q }) : newest(parts, input)),
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
        edited_by: null,
        created_at: at,
        updated_at: at,
      }
      feed.commit((tx) => {
        putKnowledge(tx, entry)
      })
      return entry
    },
    'knowledge.get': ({ knowledge_id }) => findKnowledge(read, knowledge_id),
    'knowledge.update': ({ knowledge_id, title, body, ...fields }, { principal }) => {
      const redact = redactorOf(parts, findProject(read, findKnowledge(read, knowledge_id).project_id))
      return feed.commit((tx) => {
        const current = tx.knowledge.get(knowledge_id) ?? throwNotFound('knowledge')
        const edited: KnowledgeRecord = {
          ...current,
          ...given(fields),
          ...(title !== undefined && { title: redact(title) }),
          ...(body !== undefined && { body: redact(body) }),
          edited_by: actorOf(principal),
          updated_at: now(),
        }
        putKnowledge(tx, edited)
        return edited
      })
    },
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

function search(parts: ApiParts, { project_id, q, cursor, limit }: Listed & { q: string }): Page<KnowledgeRecord> {
  const offset = cursorFor(Offset, cursor)?.offset ?? 0
  const found = parts.store.read.knowledge.search(project_id, q, { offset, limit: limit + 1 })
  return pageOf(found, limit, () => ({ offset: offset + limit }))
}

function newest(parts: ApiParts, { project_id, cursor, limit }: Listed): Page<KnowledgeRecord> {
  const found = parts.store.read.knowledge.list(project_id, { after: cursorFor(Cursor, cursor), limit: limit + 1 })
  return pageOf(found, limit, ({ created_at, id }) => ({ created_at, id }))
}

/** The cursor of a page: a count when sorted by relevance, the last entry when sorted by age. */
const Offset = z.strictObject({ offset: z.int().min(0).max(1_000_000) })
const Cursor = z.strictObject({ created_at: Timestamp, id: KnowledgeId })
