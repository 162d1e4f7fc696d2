import { shallowRef } from 'vue'
import type { Diff } from '../../../src-shared/contract/workspaces.ts'
import { useTaskDetails } from '../../stores/task-details.ts'
import { useToasts } from '../../stores/toasts.ts'

/** The files that were too large to come along with the diff, once somebody asks for them. */
export function useLargeFiles(taskId: () => string) {
  const details = useTaskDetails()
  const toasts = useToasts()
  /** Path → the file's own diff. */
  const loaded = shallowRef<ReadonlyMap<string, Diff>>(new Map())
  const loading = shallowRef<ReadonlySet<string>>(new Set())
  let turn = 0

  async function load(path: string): Promise<void> {
    if (loading.value.has(path)) return
    const mine = turn
    loading.value = new Set([...loading.value, path])
    try {
      const part = await details.fileDiff(taskId(), path)
      if (mine === turn) loaded.value = new Map([...loaded.value, [path, part]])
    } catch (error) {
      toasts.refused(error, `${path} was not loaded.`)
    } finally {
      loading.value = new Set([...loading.value].filter((other) => other !== path))
    }
  }
  return {
    loaded,
    loading,
    load,
    /** Asks again for the files that are shown, since their change may be another one now. */
    async reload(): Promise<void> {
      const paths = [...loaded.value.keys()]
      turn++
      loaded.value = new Map()
      await Promise.all(paths.map(load))
    },
    clear: () => {
      turn++
      loaded.value = new Map()
    },
  }
}
