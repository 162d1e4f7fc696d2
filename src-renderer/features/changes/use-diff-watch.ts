import { useTimeoutFn } from '@vueuse/core'
import { onScopeDispose, watch } from 'vue'
import { useTaskDetails } from '../../stores/review/task-details.ts'
import { useTaskInvalidation } from '../../stores/base/query.ts'

/** The service watches for a minute; it is asked again well before that is over. */
const EVERY = 40_000

/**
 * Has the service watch the task's worktree for as long as somebody looks, and calls `changed` when files changed,
 * or may have changed while nothing was watched.
 */
export function useDiffWatch(taskId: () => string, changed: () => void): void {
  const details = useTaskDetails()
  const news = useTaskInvalidation()
  const { start, stop } = useTimeoutFn(() => void ask(), EVERY, { immediate: false })
  let since: string | null = null
  let latest = 0

  async function ask(): Promise<void> {
    stop()
    const attempt = ++latest
    try {
      const watched = await details.watchDiff(taskId())
      if (attempt !== latest) return
      // The first answer, too: what is shown was read before the watch began.
      if (watched.since !== since) changed()
      since = watched.since
    } catch {
      // Without a watch the page still follows the task's events; the next turn asks again.
      if (attempt !== latest) return
    }
    start()
  }
  watch(
    taskId,
    () => {
      since = null
      void ask()
    },
    { immediate: true },
  )
  watch(() => news.changesOf(taskId(), 'files'), changed)
  watch(
    () => news.changesOf(taskId(), 'workspace'),
    () => {
      changed()
      // There may be a worktree to watch now.
      void ask()
    },
  )
  onScopeDispose(() => void (latest += 1))
}
