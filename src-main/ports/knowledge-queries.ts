import type { KnowledgeId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { KnowledgeEntry } from '../../src-shared/contract/knowledge.ts'

export type KnowledgeRecord = KnowledgeEntry

/** Which entries a reader gets. */
export interface KnowledgeFilter {
  readonly status: KnowledgeRecord['status']
  /** Only what came from this task; null: all. */
  readonly task_id: TaskId | null
}

export interface KnowledgePage {
  /** `created_at` and ID of the last entry of the page before. */
  readonly after: { readonly created_at: string; readonly id: KnowledgeId } | null
  readonly limit: number
}

export interface KnowledgeQueries {
  get(id: KnowledgeId): KnowledgeRecord | null
  put(record: KnowledgeRecord): void
  delete(id: KnowledgeId): void
  /** Newest first. */
  list(project_id: ProjectId, filter: KnowledgeFilter, page: KnowledgePage): readonly KnowledgeRecord[]
  /** Returns the entries that share words with `text`, most relevant first (bm25); any text is safe. */
  search(
    project_id: ProjectId,
    text: string,
    filter: KnowledgeFilter,
    page: { offset: number; limit: number },
  ): readonly KnowledgeRecord[]
  /** Returns the entry captured from a task, so that a new capture replaces it. */
  bySourceTask(task_id: TaskId): KnowledgeRecord | null
  /** Sets the knowledge for a task's agents until the next injection; null removes it. */
  setInjected(task_id: TaskId, text: string | null): void
  injected(task_id: TaskId): string | null
}
