import { computed, shallowRef } from 'vue'
import type { Diff, DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { useTaskDetails, type DiffQuery } from '../../stores/review/task-details.ts'
import { useToasts } from '../../stores/base/toasts.ts'

interface Part {
  /** The file as the whole diff named it when its lines were read. */
  readonly file: DiffFile
  readonly diff: Diff
}

/** The files that were too large to come along with the diff, once somebody asks for them. */
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
    /** Path → the file's own diff. */
    loaded: computed<ReadonlyMap<string, Diff>>(
      () => new Map([...parts.value].map(([path, { diff }]) => [path, diff] as const)),
    ),
    loading,
    load,
    /** Follows a newer diff: lets go of files that came along or are gone, and reads those anew that changed. */
    async follow(files: readonly DiffFile[]): Promise<void> {
      const left = new Map(files.filter((file) => file.truncated).map((file) => [file.path, file]))
      const kept = [...parts.value].filter(([path]) => left.has(path))
      if (kept.length < parts.value.size) parts.value = new Map(kept)
      // What is shown stays until the new lines are there: nothing jumps.
      await Promise.all(
        kept.flatMap(([path, part]) => {
          const file = left.get(path)
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
