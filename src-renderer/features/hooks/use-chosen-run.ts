import { computed, watch, type ComputedRef } from 'vue'
import type { HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { ErrorAnnotation } from '../../../src-shared/contract/tasks.ts'
import { useTaskView } from '../../stores/tasks/task-view.ts'
import { firstRun, heldRun } from './hook-runs.ts'

/**
 * Returns the selected run. A selection stays, except that a run that blocks the task is selected
 * automatically. Without a selection, follows each new run.
 */
export function useChosenRun(
  taskId: string,
  runs: ComputedRef<readonly HookRun[]>,
  annotation: () => ErrorAnnotation | null,
) {
  const { hookRuns } = useTaskView()
  const run = computed(() => runs.value.find((each) => each.log_name === hookRuns.of(taskId)) ?? null)
  const held = computed(() => heldRun(runs.value, annotation())?.log_name ?? null)
  let following = false
  /**
   * The log names of runs before a retry was requested, so that the next new run is selected; null
   * otherwise.
   */
  let seen: ReadonlySet<string> | null = null

  function show(next: HookRun): void {
    following = next.status === 'running'
    hookRuns.choose(taskId, next.log_name)
  }
  function next(heldBefore: string | null): HookRun | null {
    const awaited = seen && runs.value.find((each) => !seen?.has(each.log_name))
    if (awaited) {
      seen = null
      return awaited
    }
    if (held.value !== null && held.value !== heldBefore) return heldRun(runs.value, annotation())
    if (run.value === null) return firstRun(runs.value, annotation())
    const isOver = following && run.value.status !== 'running'
    return isOver ? (runs.value.find((each) => each.status === 'running') ?? null) : null
  }
  watch(
    [runs, held],
    (_now, before) => {
      const wanted = next(before[1] ?? null)
      if (wanted) show(wanted)
    },
    { immediate: true },
  )
  return {
    run,
    chosen: computed({
      get: () => hookRuns.of(taskId),
      set: (logName) => {
        following = false
        if (logName !== null) hookRuns.choose(taskId, logName)
      },
    }),
    awaitNext: (on: boolean): void => void (seen = on ? new Set(runs.value.map((each) => each.log_name)) : null),
  }
}
