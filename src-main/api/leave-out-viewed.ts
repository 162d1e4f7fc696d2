import type { FileChange, FileDiff } from '../ports/diff-reader.ts'
import { hasViewedHunk, type MarkableFile, type ViewedMarks } from '../domain/review/viewed-marks.ts'
import { keepRuns, splitFiles, type LineSpan, type PatchRun } from '../../src-shared/contract/patch-hunks.ts'

/** A changed file with its hunks and where they are. */
interface PlacedFile extends MarkableFile {
  readonly hunks: readonly (PatchRun & { readonly id: string })[]
}

/**
 * Leaves what a reader has viewed out of a diff of the whole branch. `now`: the changed files with their hunks; a file
 * that has changed between the two reads is shown as a whole.
 */
export function leaveOutViewed(diff: FileDiff, now: readonly PlacedFile[], marks: ViewedMarks): FileDiff {
  const byPath = new Map(now.map((file) => [file.path, file]))
  const parts = splitFiles(diff.patch)
  let part = 0
  const files: FileChange[] = []
  const patch: string[] = []
  for (const file of diff.files) {
    const text = file.truncated ? null : (parts[part++] ?? '')
    const found = byPath.get(file.path)
    const isSame = found !== undefined && found.blob === file.blob && found.new_mode === file.new_mode
    const left = isSame ? found.hunks.filter(({ id }) => !hasViewedHunk(id, file, marks)) : null
    if (left?.length === 0) continue
    if (left === null || left.length === found?.hunks.length || text === null) {
      files.push(file)
      patch.push(text ?? '')
      continue
    }
    const kept = new Set(left.map(placeOf))
    files.push({ ...file, additions: sum(left, ({ new: span }) => span), deletions: sum(left, ({ old }) => old) })
    patch.push(keepRuns(text, (run) => kept.has(placeOf(run))) ?? headOf(text))
  }
  return { ...diff, files, patch: patch.join(''), truncated: files.some(({ truncated }) => truncated) }
}

const placeOf = ({ old, new: now }: PatchRun): string => `${old.join()} ${now.join()}`

const sum = (hunks: readonly PatchRun[], side: (hunk: PatchRun) => LineSpan): number =>
  hunks.reduce((total, hunk) => total + side(hunk)[1], 0)

/** Returns what stands before the first changed lines: names and modes. */
function headOf(part: string): string {
  const at = part.indexOf('\n@@ ')
  return at < 0 ? part : part.slice(0, at + 1)
}
