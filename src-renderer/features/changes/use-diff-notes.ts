import { computed, type ComputedRef } from 'vue'
import type { DiffAnnotation } from '../../components/diff/diff-notes.ts'
import { sumCounts } from './line-annotations.ts'
import { useForgeThreads, type ForgeThreads, type ShownDiff } from './use-forge-threads.ts'
import { useLineNotes, type LineNotes } from './use-line-notes.ts'

/** All that stands at lines of a task's diff: comments, the one being written, and threads of the forge. */
export interface DiffNotes {
  readonly lines: LineNotes
  readonly forgeThreads: ForgeThreads
  readonly notes: ComputedRef<readonly DiffAnnotation[]>
  /** The number of open threads by path, here and at the forge. */
  readonly counts: ComputedRef<ReadonlyMap<string, number>>
  /** The keys of the notes with an open thread. */
  readonly open: ComputedRef<ReadonlySet<string>>
  /** The number of open threads of the forge in the diff. */
  readonly atForge: ComputedRef<{ readonly count: number; readonly forge: string }>
}

export function useDiffNotes(taskId: () => string, shown: ShownDiff): DiffNotes {
  const lines = useLineNotes(taskId, () => shown.files.value)
  const forgeThreads = useForgeThreads(shown)
  const { openKeys, forge } = forgeThreads
  return {
    lines,
    forgeThreads,
    notes: computed(() => [...lines.notes.value, ...forgeThreads.notes.value]),
    counts: computed(() => sumCounts(lines.counts.value, forgeThreads.counts.value)),
    open: computed(() => new Set([...lines.unresolved.value.map(({ root }) => root.id as string), ...openKeys.value])),
    atForge: computed(() => ({ count: openKeys.value.length, forge: forge.value })),
  }
}
