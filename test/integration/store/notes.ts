import { v7 } from 'uuid'
import type { KnowledgeRecord } from '../../../src-main/ports/store.ts'
import type { KnowledgeId } from '../../../src-shared/contract/ids.ts'
import { at, type OpenStore } from './open-store.ts'

/** Writes an entry with these fields. */
export function writeNote(open: OpenStore, more: Partial<KnowledgeRecord> = {}): KnowledgeRecord {
  const record: KnowledgeRecord = {
    id: v7() as KnowledgeId,
    project_id: open.project_id,
    title: 'Title',
    body: 'Body',
    source: { by: 'system', task_id: null, execution_id: null },
    edited_by: null,
    created_at: at,
    updated_at: at,
    ...more,
  }
  putNote(open, record)
  return record
}

/** Writes an entry, new or known. */
export function putNote(open: OpenStore, record: KnowledgeRecord): void {
  open.store.write((q) => {
    q.knowledge.put(record)
  })
}

/** The titles of what is found in the project. */
export function searchNotes(open: OpenStore, text: string, page: { offset?: number; limit?: number } = {}): string[] {
  const { offset = 0, limit = 10 } = page
  return open.store.read.knowledge.search(open.project_id, text, { offset, limit }).map((entry) => entry.title)
}

/** Asks FTS5 itself whether what it holds is what the table holds; throws when not. */
export function checkIndex(open: OpenStore): void {
  open.database.db.$client.exec(`INSERT INTO knowledge_text (knowledge_text, rank) VALUES ('integrity-check', 1)`)
}
