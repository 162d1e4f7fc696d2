import { computed, ref, watch } from 'vue'
import type { KnowledgeEntry } from '../../../../src-shared/contract/knowledge.ts'
import { useQuery } from '../../../stores/base/query.ts'
import { useKnowledge } from '../../../stores/project/knowledge.ts'
import { useWhenBack } from '../../../stores/live.ts'

/** Whose entries are shown. `agents`: captured by an agent, or by Copse after a run, and never edited. */
export type KnowledgeOrigin = 'all' | 'agents' | 'people'

const pageSize = 50

/** What a project knows, newest first or what fits the words best; it follows what others change. */
export function useKnowledgeList(projectId: string) {
  const knowledge = useKnowledge()
  const query = ref('')
  const origin = ref<KnowledgeOrigin>('all')
  const wanted = ref(pageSize)
  // Before the list is asked for by its key: other words begin with the first page.
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
    /** Null until they have been read. */
    entries: computed(
      () =>
        list.data.value?.entries.filter((entry) => origin.value === 'all' || originOf(entry) === origin.value) ?? null,
    ),
    hasMore: computed(() => list.data.value?.hasMore ?? false),
    showMore: (): void => void (wanted.value += pageSize),
  }
}

/** What runs proposed and no person has decided, newest first: the first page, since decided ones make room. */
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

/** The author of an entry, or the person who edited it last. */
function originOf({ source, edited_by }: KnowledgeEntry): Exclude<KnowledgeOrigin, 'all'> {
  return edited_by !== null || source.by.startsWith('user:') ? 'people' : 'agents'
}
