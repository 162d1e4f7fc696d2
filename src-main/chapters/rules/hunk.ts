import type { hunkCauses } from '../../../src-shared/contract/chapters.ts'

/** Cause of a change: `lines` for changed lines, else what git shows without lines. */
export type HunkCause = (typeof hunkCauses)[number]

/** First line (from 1) and number of lines on one side, as git gives them: without lines, the line before. */
export type LineSpan = readonly [start: number, lines: number]

/** A run of changed lines, or another change of a file. */
export interface Hunk {
  /** Hash of path, content, modes and number among equals. Independent of all other hunks that differ. */
  readonly id: string
  readonly path: string
  /** Path in the base if the file was renamed. */
  readonly old_path: string | null
  readonly cause: HunkCause
  readonly old: LineSpan
  readonly new: LineSpan
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/** A changed file with its hunks, at least one. */
export interface FileHunks {
  readonly path: string
  readonly old_path: string | null
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
  readonly old_mode: string | null
  readonly new_mode: string | null
  /** The new content as `DiffFile` names it; null if the file is deleted. */
  readonly blob: string | null
  readonly hunks: readonly Hunk[]
}

/** A changed file as git lists it. */
export interface ListedChange extends Omit<FileHunks, 'hunks'> {
  readonly old_blob: string | null
  readonly new_blob: string | null
  readonly binary: boolean
  /** Its part of the patch without context lines, bytes as latin1; null if it is too large. */
  readonly patch: string | null
}

interface PatchHunk extends Pick<Hunk, 'old' | 'new' | 'removed' | 'added'> {
  /** Changed lines with their signs, byte for byte as latin1. */
  readonly content: string
}

interface Tools {
  /** Returns a hash of bytes that are given as latin1. */
  readonly digest: (latin1: string) => string
  /** Decodes UTF-8 bytes that are given as latin1. */
  readonly decode: (latin1: string) => string
}

const submodule = '160000'
const nowhere: LineSpan = [0, 0]

/** Returns the hunks of each changed file; every change has at least one, so that a partition of hunks misses none. */
export function numberHunks(changes: readonly ListedChange[], tools: Tools): readonly FileHunks[] {
  return changes.map((change) => ({
    path: change.path,
    old_path: change.old_path,
    status: change.status,
    old_mode: change.old_mode,
    new_mode: change.new_mode,
    blob: change.blob,
    hunks: hunksOf(change, tools),
  }))
}

function hunksOf(change: ListedChange, { digest, decode }: Tools): readonly Hunk[] {
  const { path, old_path, old_mode, new_mode } = change
  const count = new Map<string, number>()
  const add = (cause: HunkCause, { content, ...lines }: PatchHunk): Hunk => {
    const key = JSON.stringify([cause, content])
    const number = count.get(key) ?? 0
    count.set(key, number + 1)
    // The path is UTF-8 text and the content is bytes, so both are hashed as bytes.
    const id = digest(`${toLatin1(JSON.stringify([path, old_mode, new_mode, cause, number]))}\n${content}`)
    return { id, path, old_path, cause, ...lines }
  }
  const whole = (cause: HunkCause, content: string): Hunk =>
    add(cause, { old: nowhere, new: nowhere, removed: [], added: [], content })
  const blobs = `${change.old_blob ?? ''} ${change.new_blob ?? ''}`
  const found: Hunk[] = []
  if (old_path !== null) found.push(whole('rename', toLatin1(old_path)))
  if (isModeChange(change)) found.push(whole('mode', ''))
  if (change.binary) found.push(whole('binary', blobs))
  else if (change.patch === null) found.push(whole('large', blobs))
  else {
    const isSubmodule = old_mode === submodule || new_mode === submodule
    for (const hunk of splitPatch(change.patch, decode)) found.push(add(isSubmodule ? 'submodule' : 'lines', hunk))
  }
  return found.length > 0 ? found : [whole('empty', blobs)]
}

/** Returns whether a file became executable, or ceased to be; a change of type shows in its lines. */
function isModeChange({ old_mode, new_mode }: ListedChange): boolean {
  if (old_mode === null || new_mode === null || old_mode === new_mode) return false
  return old_mode.startsWith('100') && new_mode.startsWith('100')
}

/**
 * Splits a file's part of `git diff --unified=0` (bytes as latin1) into runs of changed lines. Follows the counts in
 * the headings, so that no content is taken for a heading.
 */
function splitPatch(patch: string, decode: (latin1: string) => string): readonly PatchHunk[] {
  const found: PatchHunk[] = []
  const lines = patch.split('\n')
  for (let at = 0; at < lines.length; at += 1) {
    const heading = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(lines[at] ?? '')
    if (!heading) continue
    const [, oldStart = '0', oldLines = '1', newStart = '0', newLines = '1'] = heading
    let left = Number(oldLines) + Number(newLines)
    const content: string[] = []
    while (at + 1 < lines.length && (left > 0 || lines[at + 1]?.startsWith('\\'))) {
      at += 1
      const line = lines[at] ?? ''
      if (!line.startsWith('\\')) left -= 1
      content.push(line)
    }
    const side = (sign: string): readonly string[] =>
      content.filter((line) => line.startsWith(sign)).map((line) => decode(line.slice(1)))
    found.push({
      old: [Number(oldStart), Number(oldLines)],
      new: [Number(newStart), Number(newLines)],
      removed: side('-'),
      added: side('+'),
      content: content.join('\n'),
    })
  }
  return found
}

/** Returns the UTF-8 bytes of a text, one character each. */
function toLatin1(text: string): string {
  // `encodeURIComponent` throws at half a surrogate pair, which a path decoded from bytes never has.
  return encodeURIComponent(text).replaceAll(/%([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
