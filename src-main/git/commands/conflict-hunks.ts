import type { ConflictHunk } from '../../../src-shared/contract/conflicts.ts'
import type { ConflictedTree } from './merge.ts'
import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

/** The names of the two sides in the conflict markers. */
export interface SideNames {
  readonly ours: string
  readonly theirs: string
}

const maxHunks = 500
const maxHunkText = 16_000
const maxText = 400_000
const maxFileBytes = 4 * 1024 * 1024
const contextLines = 3

/** Returns the conflicts in the order of their paths; a conflict that git marked in the file includes its text. */
export async function readHunks(
  cwd: string,
  conflict: ConflictedTree,
  names: SideNames,
  { signal }: Options,
): Promise<readonly ConflictHunk[]> {
  const blobs = await markedBlobs(cwd, conflict, { signal })
  const hunks: ConflictHunk[] = []
  let budget = maxText
  for (const { key, path, kind } of conflict.paths) {
    const text = blobs.get(key)
    const regions = text === undefined ? [] : findRegions(text, conflict, names)
    if (regions.length === 0) hunks.push({ path, kind, line: null, text: null, truncated: false })
    for (const { line, lines } of regions) {
      const whole = lines.join('\n')
      const cut = whole.slice(0, Math.min(maxHunkText, budget))
      budget -= cut.length
      hunks.push({ path, kind, line, text: cut === '' ? null : cut, truncated: cut.length < whole.length })
    }
  }
  return hunks.slice(0, maxHunks)
}

interface Region {
  /** Line in the marked file, from 1. */
  readonly line: number
  readonly lines: readonly string[]
}

/** Markers are recognized by the commits they name, because a file may contain lines that look like markers. */
function findRegions(text: string, { ours, theirs }: ConflictedTree, names: SideNames): readonly Region[] {
  const lines = text.split('\n')
  const opens = new RegExp(`^<{7,} ${ours}(?=:|\\r?$)`)
  const closes = new RegExp(`^>{7,} ${theirs}(?=:|\\r?$)`)
  const regions: Region[] = []
  let start: number | null = null
  for (const [index, line] of lines.entries()) {
    if (start === null && opens.test(line)) start = index
    if (start === null || !closes.test(line)) continue
    const from = Math.max(0, start - contextLines)
    const shown = lines.slice(from, index + 1 + contextLines)
    const named = shown.map((one) => one.replace(ours, names.ours).replace(theirs, names.theirs))
    regions.push({ line: start + 1, lines: named })
    start = null
  }
  return regions
}

/**
 * Returns the files of the attempted merge that may have conflict markers, by the bytes of their paths: files that
 * differ from our side.
 */
async function markedBlobs(
  cwd: string,
  { ours, tree, paths }: ConflictedTree,
  { signal }: Options,
): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(paths.map(({ key }) => key))
  const raw = await runGit(cwd, ['diff-tree', '-r', '-z', '--raw', '--no-renames', ours, tree], { signal })
  const fields = raw.stdout.toString('latin1').split('\0')
  const ids = new Map<string, string>()
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = '', , id = ''] = (fields[at] ?? '').split(' ')
    const key = fields[at + 1] ?? ''
    if (wanted.has(key) && mode.startsWith('100')) ids.set(key, id)
  }
  const texts = await readTexts(cwd, [...new Set(ids.values())], { signal })
  const found = new Map<string, string>()
  for (const [key, id] of ids) {
    const text = texts.get(id)
    if (text !== undefined) found.set(key, text)
  }
  return found
}

/** Returns the blobs' texts, except large ones. */
async function readTexts(
  cwd: string,
  ids: readonly string[],
  { signal }: Options,
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const check = await runGit(cwd, ['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
    signal,
    input: ids.map((id) => `${id}\n`).join(''),
  })
  const sizes = check.stdout.toString('utf8').split('\n')
  let total = 0
  const wanted = sizes.flatMap((line) => {
    const [id = '', size] = line.split(' ')
    if (id === '' || Number(size) > maxFileBytes || total + Number(size) > 8 * maxFileBytes) return []
    total += Number(size)
    return [{ id, size: Number(size) }]
  })
  const input = wanted.map(({ id }) => `${id}\n`).join('')
  const { stdout } = await runGit(cwd, ['cat-file', '--batch=%(objectname)'], { signal, input })
  const texts = new Map<string, string>()
  let at = 0
  for (const { id, size } of wanted) {
    at += id.length + 1
    texts.set(id, stdout.subarray(at, at + size).toString('utf8'))
    at += size + 1
  }
  return texts
}
