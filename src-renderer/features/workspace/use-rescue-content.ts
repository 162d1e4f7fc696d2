import { computed, shallowRef, type ComputedRef, type Ref } from 'vue'
import type { Rescue } from '../../../src-shared/contract/rescues.ts'
import type { Diff, DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { useQuery, type Query } from '../../stores/base/query.ts'
import { useRescues, type RescueScope } from './rescues.ts'
import { useToasts } from '../../stores/base/toasts.ts'

/** Returns the estimated height of the diff in pixels; wrapped lines take more and need scrolling. */
function heightOf(files: readonly DiffFile[]): number {
  const around = { added: 0, deleted: 0, modified: 8, renamed: 8 } as const
  const lines = (file: DiffFile) =>
    file.binary || file.truncated ? 0 : file.additions + file.deletions + around[file.status]
  return files.reduce((sum, file) => sum + 50 + lines(file) * 20, 24)
}

/** The diff of a snapshot. */
export interface RescueDiff {
  readonly diff: Query<Diff>['data']
  readonly failure: Query<Diff>['error']
  readonly reload: () => Promise<void>
  readonly files: ComputedRef<readonly DiffFile[]>
  /** The paths of large files being loaded. */
  readonly loading: Readonly<Ref<ReadonlySet<string>>>
  /** The patch of the diff, and those of large files that are loaded. */
  readonly patches: ComputedRef<readonly string[]>
  /** The estimated height in pixels. */
  readonly height: ComputedRef<number>
  /** Loads a file that was too large for the diff. */
  readonly loadFile: (path: string) => Promise<void>
}

/** Returns the diff of a snapshot, loaded once because it never changes, with large files on demand. */
export function useRescueContent(rescue: () => Rescue, scope: () => RescueScope): RescueDiff {
  const rescues = useRescues()
  const toasts = useToasts()
  const diff = useQuery<Diff>(() => rescues.diff(scope(), rescue()))
  const large = shallowRef<ReadonlyMap<string, Diff>>(new Map())
  const loading = shallowRef<ReadonlySet<string>>(new Set())
  const files = computed(() =>
    (diff.data.value?.files ?? []).map((file) => large.value.get(file.path)?.files[0] ?? file),
  )
  void diff.reload()
  return {
    diff: diff.data,
    failure: diff.error,
    reload: diff.reload,
    files,
    loading,
    patches: computed(() => [diff.data.value?.patch ?? '', ...[...large.value.values()].map((one) => one.patch)]),
    height: computed(() => heightOf(files.value)),
    loadFile: async (path: string): Promise<void> => {
      if (loading.value.has(path)) return
      loading.value = new Set([...loading.value, path])
      try {
        large.value = new Map([...large.value, [path, await rescues.diff(scope(), rescue(), path)]])
      } catch (error) {
        toasts.refused(error, `${path} was not loaded.`)
      } finally {
        loading.value = new Set([...loading.value].filter((other) => other !== path))
      }
    },
  }
}
