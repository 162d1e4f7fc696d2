import { computed, onScopeDispose, shallowRef, watch } from 'vue'
import type { Diff, DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { useResource } from '../../composables/use-resource.ts'
import { useLive } from '../../stores/live.ts'
import { useTaskDetails } from '../../stores/task-details.ts'
import { useTasks } from '../../stores/tasks.ts'
import { treeOrder } from './file-tree.ts'
import { useLargeFiles } from './use-large-files.ts'

/** Events that come together are one reason to look again. */
const SETTLE = 300

/** The task's whole branch against its base; looked at again when an event says that it changed. */
export function useChanges(taskId: () => string) {
  const details = useTaskDetails()
  const tasks = useTasks()
  const live = useLive()
  const large = useLargeFiles(taskId)
  const task = computed(() => tasks.byId.get(taskId()) ?? null)
  const diff = useResource<Diff | null>(() => details.branchDiff(taskId()))
  /** The first answer is there; null is one. */
  const asked = shallowRef(false)

  async function refresh(): Promise<void> {
    await diff.reload()
    asked.value = true
    await large.reload()
  }
  watch(
    taskId,
    () => {
      diff.clear()
      large.clear()
      asked.value = false
      void refresh()
    },
    { immediate: true },
  )
  let timer: ReturnType<typeof setTimeout> | undefined
  watch(
    () => [task.value?.diff_stat, task.value?.active_execution_id, task.value?.status],
    ([stat, ...rest], [statBefore, ...before]) => {
      if (JSON.stringify([stat, rest]) === JSON.stringify([statBefore, before])) return
      clearTimeout(timer)
      timer = setTimeout(() => void refresh(), SETTLE)
    },
  )
  // What was missed meanwhile is in the next answer.
  watch(
    () => live.offline,
    (now) => {
      if (!now) void refresh()
    },
  )
  onScopeDispose(() => clearTimeout(timer))

  const files = computed<readonly DiffFile[]>(() =>
    treeOrder((diff.value.value?.files ?? []).map((file) => large.loaded.value.get(file.path)?.files[0] ?? file)),
  )
  const patches = computed<readonly string[]>(() => [
    diff.value.value?.patch ?? '',
    ...[...large.loaded.value.values()].map((part) => part.patch),
  ])
  const sum = (of: (file: DiffFile) => number) => files.value.reduce((total, file) => total + of(file), 0)

  return {
    task,
    diff,
    asked,
    files,
    patches,
    loading: large.loading,
    loadFile: large.load,
    refresh,
    totals: computed(() => ({ additions: sum((file) => file.additions), deletions: sum((file) => file.deletions) })),
  }
}
