import { v7 } from 'uuid'
import type { KnowledgeRecord } from '../../../src-main/ports/knowledge-queries.ts'
import type { KnowledgeId } from '../../../src-shared/contract/ids.ts'
import { at, type OpenStore } from './open-store.ts'

/** An entry with these fields. */
export function writeNote(open: OpenStore, more: Partial<KnowledgeRecord> = {}): KnowledgeRecord {
  const record: KnowledgeRecord = {
    id: v7() as KnowledgeId,
    project_id: open.project_id,
    title: 'Title',
    body: 'Body',
    source: { by: 'system', task_id: null, execution_id: null },
    status: 'accepted',
    accepted_by: null,
    edited_by: null,
    created_at: at,
    updated_at: at,
    ...more,
  }
  putNote(open, record)
  return record
}

/** Saves an entry, new or known. */
export function putNote(open: OpenStore, record: KnowledgeRecord): void {
  open.store.write((q) => {
    q.knowledge.put(record)
  })
}

/** The titles of the project's matches. */
export function searchNotes(open: OpenStore, text: string, page: { offset?: number; limit?: number } = {}): string[] {
  const { offset = 0, limit = 10 } = page
  const filter = { status: 'accepted', task_id: null } as const
  return open.store.read.knowledge.search(open.project_id, text, filter, { offset, limit }).map((entry) => entry.title)
}

/** Asks FTS5 to compare its index with the table; throws if they differ. */
export function checkIndex(open: OpenStore): void {
  open.database.db.$client.exec(`INSERT INTO knowledge_text (knowledge_text, rank) VALUES ('integrity-check', 1)`)
}
