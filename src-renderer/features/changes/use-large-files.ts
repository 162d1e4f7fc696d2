import { computed, shallowRef } from 'vue'
import type { Diff, DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { useTaskDetails, type DiffQuery } from '../../stores/review/task-details.ts'
import { useToasts } from '../../stores/base/toasts.ts'

interface Part {
  /** The entry of the file in the whole diff at the time its lines were loaded. */
  readonly file: DiffFile
  readonly diff: Diff
}

/** Loads files on demand that were too large for the diff. */
export function useLargeFiles(taskId: () => string, wishes: () => DiffQuery) {
  const details = useTaskDetails()
  const toasts = useToasts()
  const parts = shallowRef<ReadonlyMap<string, Part>>(new Map())
  const loading = shallowRef<ReadonlySet<string>>(new Set())
  let current = 0

  async function load(file: DiffFile): Promise<void> {
    const { path } = file
    if (loading.value.has(path)) return
    const generation = current
    loading.value = new Set([...loading.value, path])
    try {
      const diff = await details.fileDiff(taskId(), path, wishes())
      if (generation === current) parts.value = new Map([...parts.value, [path, { file, diff }]])
    } catch (error) {
      toasts.refused(error, `${path} was not loaded.`)
    } finally {
      loading.value = new Set([...loading.value].filter((other) => other !== path))
    }
  }
  return {
    /** The file's own diff by path. */
    loaded: computed<ReadonlyMap<string, Diff>>(
      () => new Map([...parts.value].map(([path, { diff }]) => [path, diff] as const)),
    ),
    loading,
    load,
    /** Follows a newer diff: drops files that are included or removed, and reloads changed ones. */
    async follow(files: readonly DiffFile[]): Promise<void> {
      const omitted = new Map(files.filter((file) => file.truncated).map((file) => [file.path, file]))
      const kept = [...parts.value].filter(([path]) => omitted.has(path))
      if (kept.length < parts.value.size) parts.value = new Map(kept)
      // Keep the old lines until the new ones arrive, so that the page doesn't jump.
      await Promise.all(
        kept.flatMap(([path, part]) => {
          const file = omitted.get(path)
          return file && !sameContent(file, part.file) ? [load(file)] : []
        }),
      )
    },
    clear: () => {
      current++
      parts.value = new Map()
    },
  }
}

function sameContent(a: DiffFile, b: DiffFile): boolean {
  const key = ({ blob, new_mode, old_mode, old_path, status, additions, deletions }: DiffFile) =>
    JSON.stringify([blob, new_mode, old_mode, old_path, status, additions, deletions])
  return key(a) === key(b)
}
