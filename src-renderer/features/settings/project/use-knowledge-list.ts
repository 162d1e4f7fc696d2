import { computed, ref, watch, type ComputedRef, type Ref } from 'vue'
import type { KnowledgeEntry } from '../../../../src-shared/contract/knowledge.ts'
import { useQuery, type Query } from '../../../stores/base/query.ts'
import { useKnowledge } from '../../../stores/project/knowledge.ts'
import { useWhenBack } from '../../../stores/live.ts'

/**
 * The source of shown entries. `agents`: captured by an agent, or by Copse after a run, and never
 * edited.
 */
export type KnowledgeOrigin = 'all' | 'agents' | 'people'

const pageSize = 50

/** The knowledge of a project. */
export interface KnowledgeList {
  /** The search text. */
  readonly query: Ref<string>
  readonly origin: Ref<KnowledgeOrigin>
  readonly error: Query<unknown>['error']
  readonly loading: Readonly<Ref<boolean>>
  readonly reload: () => Promise<void>
  /** The entries of the chosen origin; null until loaded. */
  readonly entries: ComputedRef<readonly KnowledgeEntry[] | null>
  readonly hasMore: ComputedRef<boolean>
  /** Loads the next page. */
  readonly showMore: () => void
}

/** Returns a project's knowledge, newest first or best match first; reloads after events. */
export function useKnowledgeList(projectId: string): KnowledgeList {
  const knowledge = useKnowledge()
  const query = ref('')
  const origin = ref<KnowledgeOrigin>('all')
  const wanted = ref(pageSize)
  // Declared before the list query, so that a new search starts with the first page.
  watch(query, () => (wanted.value = pageSize))
  const list = useQuery(readPages, () => [
    'knowledge',
    projectId,
    query.value,
    wanted.value,
    knowledge.changesOf(projectId),
  ])
  async function readPages() {
    const entries: KnowledgeEntry[] = []
    let cursor: string | null | undefined
    do {
      const page = await knowledge.list({
        project_id: projectId,
        limit: pageSize,
        ...(query.value.trim() !== '' && { q: query.value }),
        ...(cursor && { cursor }),
      })
      entries.push(...page.items)
      cursor = page.next_cursor
    } while (cursor !== null && entries.length < wanted.value)
    return { entries, hasMore: cursor !== null }
  }
  useWhenBack(() => void list.reload())
  return {
    query,
    origin,
    error: list.error,
    loading: list.loading,
    reload: list.reload,
    entries: computed(
      () =>
        list.data.value?.entries.filter((entry) => origin.value === 'all' || originOf(entry) === origin.value) ?? null,
    ),
    hasMore: computed(() => list.data.value?.hasMore ?? false),
    showMore: (): void => void (wanted.value += pageSize),
  }
}

/**
 * Returns the undecided proposals of runs, newest first; only the first page, since decided ones
 * make room.
 */
export function useProposals(projectId: string) {
  const knowledge = useKnowledge()
  const list = useQuery(
    () => knowledge.list({ project_id: projectId, status: 'proposed', limit: pageSize }),
    () => ['knowledge proposals', projectId, knowledge.changesOf(projectId)],
  )
  useWhenBack(() => void list.reload())
  return {
    error: list.error,
    reload: list.reload,
    proposals: computed(() => list.data.value?.items ?? []),
    hasMore: computed(() => list.data.value?.has_more ?? false),
  }
}

/** Returns the origin of an entry: that of its author, or of the last person who edited it. */
function originOf({ source, edited_by }: KnowledgeEntry): Exclude<KnowledgeOrigin, 'all'> {
  return edited_by !== null || source.by.startsWith('user:') ? 'people' : 'agents'
}
