import type { Chapter } from './build-chapters.ts'
import type { FileHunks } from './hunk.ts'

/** Divides a change by file, in git's order: what is there to read until the rules are ready. */
export function divideByFiles(files: readonly FileHunks[]): readonly Chapter[] {
  return files.map(({ path, hunks }) => ({
    id: hunks[0]?.id ?? '',
    title: path,
    why: 'One file.',
    kind: 'other',
    folded: false,
    hunks: hunks.map((hunk) => ({ hunk, kind: 'other', is_folded: false, from: null })),
    packages: null,
  }))
}
