import { computed, onScopeDispose, shallowRef, watch } from 'vue'
import type { Diff, DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { useResource } from '../../composables/use-resource.ts'
import { useTaskDetails } from '../../stores/task-details.ts'
import { useTasks } from '../../stores/tasks.ts'
import { useToasts } from '../../stores/toasts.ts'
import { treeOrder } from './file-tree.ts'

/** Events that come together are one reason to look again. */
const SETTLE = 300

/** The task's whole branch against its base; looked at again when an event says that it changed. */
export function useChanges(taskId: () => string) {
  const details = useTaskDetails()
  const tasks = useTasks()
  const toasts = useToasts()
  const task = computed(() => tasks.byId.get(taskId()) ?? null)
  const diff = useResource<Diff | null>(() => details.branchDiff(taskId()))
  /** Files that were too large to come along and were asked for: path → their diff. */
  const loaded = shallowRef<ReadonlyMap<string, Diff>>(new Map())
  const loading = shallowRef<ReadonlySet<string>>(new Set())
  const asked = shallowRef(false)

  async function refresh(): Promise<void> {
    await diff.reload()
    asked.value = true
    loaded.value = new Map()
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  watch(
    taskId,
    () => {
      diff.clear()
      asked.value = false
      void refresh()
    },
    { immediate: true },
  )
  watch(
    () => [
      task.value?.diff_stat?.files,
      task.value?.diff_stat?.additions,
      task.value?.diff_stat?.deletions,
      task.value?.active_execution_id,
      task.value?.status,
    ],
    () => {
      clearTimeout(timer)
      timer = setTimeout(() => void refresh(), SETTLE)
    },
  )
  onScopeDispose(() => clearTimeout(timer))

  const files = computed<readonly DiffFile[]>(() =>
    treeOrder((diff.value.value?.files ?? []).map((file) => loaded.value.get(file.path)?.files[0] ?? file)),
  )
  const patches = computed<readonly string[]>(() => [
    diff.value.value?.patch ?? '',
    ...[...loaded.value.values()].map((part) => part.patch),
  ])

  async function loadFile(path: string): Promise<void> {
    if (loading.value.has(path)) return
    loading.value = new Set([...loading.value, path])
    try {
      const part = await details.fileDiff(taskId(), path)
      loaded.value = new Map([...loaded.value, [path, part]])
    } catch (error) {
      toasts.refused(error, `${path} was not loaded.`)
    } finally {
      loading.value = new Set([...loading.value].filter((other) => other !== path))
    }
  }

  return {
    task,
    diff,
    asked,
    files,
    patches,
    loading,
    loadFile,
    refresh,
    totals: computed(() => ({
      additions: files.value.reduce((sum, file) => sum + file.additions, 0),
      deletions: files.value.reduce((sum, file) => sum + file.deletions, 0),
    })),
  }
}
