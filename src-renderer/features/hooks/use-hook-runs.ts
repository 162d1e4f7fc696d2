import { computed, onScopeDispose, readonly, shallowRef, watch } from 'vue'
import type { HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import { throttle } from '../../composables/throttle.ts'
import { oneAtATime } from '../../../src-shared/lang/one-at-a-time.ts'
import { useHooks } from '../../stores/project/hooks.ts'
import { useWhenBack } from '../../stores/live.ts'
import { useQuery, useTaskInvalidation } from '../../stores/base/query.ts'
import { leavesOut, mergeRuns, skipsOf } from './hook-runs.ts'
import { useTaskDetails } from '../../stores/review/task-details.ts'

const ALL = 200
/** Runs per reload: a run carries its output, so only the newest are loaded while hooks write. */
const maxReloaded = 10
const throttleMs = 300

/** Returns the hook runs of a task, newest first, reloaded by events instead of polling. */
export function useHookRuns(taskId: string) {
  const hooks = useHooks()
  const news = useTaskInvalidation()
  const runs = shallowRef<readonly HookRun[] | null>(null)
  const failure = shallowRef<unknown>(null)

  async function readAll(): Promise<void> {
    runs.value = mergeRuns([], await hooks.runs(taskId, ALL))
  }
  async function readNewest(): Promise<void> {
    const known = runs.value
    if (known === null) return readAll()
    const newest = await hooks.runs(taskId, maxReloaded)
    if (leavesOut(known, newest, maxReloaded)) return readAll()
    runs.value = mergeRuns(known, newest)
  }
  async function attempt(read: () => Promise<void>): Promise<void> {
    try {
      await read()
      failure.value = null
    } catch (error) {
      failure.value = error
    }
  }
  const load = oneAtATime(() => attempt(readAll))
  const refresh = oneAtATime(() => attempt(readNewest))
  const paced = throttle(throttleMs, () => void refresh())

  void load()
  watch(
    () => news.changesOf(taskId, 'hooks'),
    () => paced.ask(),
  )
  useWhenBack(() => void load())
  onScopeDispose(paced.stop)
  return { runs: readonly(runs), failure: readonly(failure), load }
}

/** Returns the failed runs of a task that a person skipped; the timeline has this, the logs don't. */
export function useSkips(taskId: string, version: () => unknown) {
  const details = useTaskDetails()
  const news = useTaskInvalidation()
  const { data: entries } = useQuery(
    () => details.transitions(taskId),
    () => ['transitions', taskId, news.changesOf(taskId, 'timeline'), version()],
  )
  return computed(() => skipsOf(entries.value ?? []))
}
