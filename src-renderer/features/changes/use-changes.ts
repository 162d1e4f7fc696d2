import { useTimeoutFn } from '@vueuse/core'
import { computed, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { Diff, DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { oneAtATime } from '../../../src-shared/lang/one-at-a-time.ts'
import { useQuery, type Query } from '../../stores/base/query.ts'
import { useLive } from '../../stores/live.ts'
import { useSeenWork } from '../../stores/tasks/seen-work.ts'
import { useTaskDetails, type DiffQuery } from '../../stores/review/task-details.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import { splitFiles } from '../../../src-shared/contract/patch-hunks.ts'
import { treeOrder } from './file-tree.ts'
import { useDiffWatch } from './use-diff-watch.ts'
import { useLargeFiles } from './use-large-files.ts'

/** Debounce of events in milliseconds: events that come together cause one reload. */
const debounceMs = 300

/** The diff of a task. */
export interface TaskChanges {
  readonly task: ComputedRef<Task | null>
  readonly diff: Query<Diff | null>['data']
  readonly failure: Query<Diff | null>['error']
  readonly reading: Readonly<Ref<boolean>>
  /** Whether the first response has arrived, which may be null. */
  readonly hasLoaded: Readonly<Ref<boolean>>
  /** The files in tree order, with large ones once they are loaded. */
  readonly files: ComputedRef<readonly DiffFile[]>
  /** The patch of the diff, and those of large files that are loaded. */
  readonly patches: ComputedRef<readonly string[]>
  /** The same by file, without those whose lines are missing. */
  readonly patchOf: ComputedRef<ReadonlyMap<string, string>>
  /** The paths of large files being loaded. */
  readonly loading: Readonly<Ref<ReadonlySet<string>>>
  /** Loads a file that was too large for the diff. */
  readonly loadFile: (path: string) => Promise<void>
  readonly refresh: () => Promise<void>
  readonly totals: ComputedRef<{ readonly additions: number; readonly deletions: number }>
}

/** Returns the diff of the task for the query `wishes`; reloads it after events. */
export function useChanges(taskId: () => string, wishes: () => DiffQuery): TaskChanges {
  const details = useTaskDetails()
  const tasks = useTasks()
  const live = useLive()
  const large = useLargeFiles(taskId, wishes)
  const task = computed(() => tasks.byId.get(taskId()) ?? null)
  const seen = useSeenWork()
  const diff: Query<Diff | null> = useQuery(async () => {
    const id = taskId()
    const next = await details.diff(id, wishes())
    const shown = tasks.byId.get(id)
    // A decision is about the whole branch, so a single commit doesn't count as seen.
    if (shown && wishes().commit === undefined) seen.note(shown, next?.tree ?? null)
    return unlessSame(next, diff.data.value)
  })
  const hasLoaded = shallowRef(false)

  const refresh = oneAtATime(async () => {
    await diff.reload()
    hasLoaded.value = true
    await large.follow(diff.data.value?.files ?? [])
  })
  const { isPending, start } = useTimeoutFn(() => void refresh(), debounceMs, { immediate: false })
  const changed = () => {
    if (!isPending.value) start()
  }
  watch(
    taskId,
    () => {
      diff.clear()
      large.clear()
      hasLoaded.value = false
      void refresh()
    },
    { immediate: true },
  )
  watch(() => JSON.stringify([task.value?.diff_stat, task.value?.active_execution_id, task.value?.status]), changed)
  // In another comparison the loaded lines have other positions.
  watch(wishes, () => {
    large.clear()
    void refresh()
  })
  // The next response contains changes missed while offline.
  watch(() => live.offline, changed)
  useDiffWatch(taskId, changed)

  const files = computed<readonly DiffFile[]>(() =>
    treeOrder((diff.data.value?.files ?? []).map((file) => large.loaded.value.get(file.path)?.files[0] ?? file)),
  )
  const patches = computed<readonly string[]>(() => [
    diff.data.value?.patch ?? '',
    ...[...large.loaded.value.values()].map((part) => part.patch),
  ])
  const patchOf = computed<ReadonlyMap<string, string>>(() => {
    const { files: all = [], patch = '' } = diff.data.value ?? {}
    const parts = splitFiles(patch)
    const shown = all.filter(({ truncated }) => !truncated)
    return new Map([
      ...shown.map(({ path }, at) => [path, parts[at] ?? ''] as const),
      ...[...large.loaded.value].map(([path, part]) => [path, part.patch] as const),
    ])
  })
  const sum = (of: (file: DiffFile) => number) => files.value.reduce((total, file) => total + of(file), 0)

  return {
    task,
    diff: diff.data,
    failure: diff.error,
    reading: diff.loading,
    hasLoaded,
    files,
    patches,
    patchOf,
    loading: large.loading,
    loadFile: async (path: string): Promise<void> => {
      const file = diff.data.value?.files.find((candidate) => candidate.path === path)
      if (file) await large.load(file)
    },
    refresh,
    totals: computed(() => ({ additions: sum((file) => file.additions), deletions: sum((file) => file.deletions) })),
  }
}

/** Returns `shown` if both diffs are equal, so that nothing renders again. */
function unlessSame(next: Diff | null, shown: Diff | null): Diff | null {
  if (next === null || shown === null || next.patch !== shown.patch || next.base !== shown.base) return next
  return JSON.stringify(next.files) === JSON.stringify(shown.files) ? shown : next
}
