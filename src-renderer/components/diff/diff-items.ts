import { parsePatchFiles, type FileDiffMetadata } from '@pierre/diffs'
import { escapeHidden } from '../../../src-shared/lang/hidden-characters.ts'
import { formatCount } from '../../formatters/format-amounts.ts'
import { LONGEST_LINE } from './diff-lines.ts'
import type { NotedItem } from './diff-notes.ts'

/** A file of a diff, as the viewer needs it. */
export interface DiffViewFile {
  readonly path: string
  readonly old_path: string | null
  readonly status: 'added' | 'modified' | 'deleted' | 'renamed'
  /** git's file modes before and after; null if the file is absent, undefined if unknown. */
  readonly old_mode?: string | null
  readonly new_mode?: string | null
  readonly additions: number
  readonly deletions: number
  readonly binary: boolean
  readonly truncated: boolean
  /** The reason why its lines are missing. */
  readonly reason: 'too_large' | 'budget' | 'binary' | null
}

/** The number of changed lines in one file above which word marks cost more than they show. */
export const WORD_DIFF_LIMIT = 5_000

/**
 * Returns one item per file, in the given order; `id` is its path. Files that the patch leaves out (binary, too large)
 * get a header without lines. `version` changes exactly when the file's shown content does.
 */
export function diffItems(files: readonly DiffViewFile[], patches: readonly string[]): NotedItem[] {
  const parsed = new Map<string, FileDiffMetadata>()
  for (const patch of patches) {
    for (const part of parsePatchFiles(patch))
      for (const file of part.files) parsed.set(file.name, withShortLines(file))
  }
  return files.map((file) => {
    const fileDiff = parsed.get(file.path) ?? withoutLines(file)
    const version = contentHash(file, fileDiff)
    return { id: file.path, type: 'diff', version, fileDiff: { ...fileDiff, cacheKey: `${file.path}:${version}` } }
  })
}

/** Returns a `diffItems` that caches its last result, so beginning a comment doesn't parse all patches again. */
export function itemReader(): typeof diffItems {
  let last: { readonly of: Parameters<typeof diffItems>; readonly items: NotedItem[] } | null = null
  return (files, patches) => {
    if (last?.of[0] !== files || last.of[1] !== patches)
      last = { of: [files, patches], items: diffItems(files, patches) }
    return last.items
  }
}

function withShortLines(file: FileDiffMetadata): FileDiffMetadata {
  const cut = (line: string) => {
    if (line.length <= LONGEST_LINE) return line
    const end = line.endsWith('\n') ? '\n' : ''
    const cutCount = formatCount(line.length - end.length - LONGEST_LINE)
    return `${line.slice(0, LONGEST_LINE)} … ${cutCount} more characters${end}`
  }
  const shown = (line: string) => escapeHidden(cut(line))
  return { ...file, additionLines: file.additionLines.map(shown), deletionLines: file.deletionLines.map(shown) }
}

const changeTypes = {
  added: 'new',
  modified: 'change',
  deleted: 'deleted',
  renamed: 'rename-pure',
} as const satisfies Record<DiffViewFile['status'], FileDiffMetadata['type']>

function withoutLines(file: DiffViewFile): FileDiffMetadata {
  return {
    name: file.path,
    ...(file.old_path === null ? {} : { prevName: file.old_path }),
    type: changeTypes[file.status],
    hunks: [],
    splitLineCount: 0,
    unifiedLineCount: 0,
    isPartial: true,
    deletionLines: [],
    additionLines: [],
    deletionCharacterCount: 0,
    additionCharacterCount: 0,
  }
}

/** Hashes the shown content with FNV-1a, so equal content keeps its rendering when the diff is loaded again. */
function contentHash(file: DiffViewFile, diff: FileDiffMetadata): number {
  let hash = 0x811c9dc5
  const add = (text: string) => {
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  add(
    `${file.status}${file.old_mode}${file.new_mode}${file.truncated}${file.binary}${file.additions},${file.deletions}${file.old_path ?? ''}`,
  )
  for (const hunk of diff.hunks) add(hunk.hunkSpecs ?? '')
  for (const line of diff.deletionLines) add(line)
  for (const line of diff.additionLines) add(line)
  return hash >>> 0
}
