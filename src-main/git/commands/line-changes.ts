import type { LineChange } from '../../../src-shared/contract/comments.ts'
import type { LinePlace } from '../../ports/diff-reader.ts'
import { GitError } from './git-error.ts'
import { parseRaw } from './raw-changes.ts'
import { runGit, type GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

const form = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--text', '--diff-algorithm=default']
/** Maximum lines per side. */
const maxLines = 40
const maxLength = 500
const maxPatch = 16 * 1024 * 1024

/** Returns how lines changed between two trees, in the order of the places; null for unchanged lines. */
export async function readLineChanges(
  cwd: string,
  from: string,
  to: string,
  places: readonly LinePlace[],
  { signal }: Options,
): Promise<readonly (LineChange | null)[]> {
  if (from === to || places.length === 0) return places.map(() => null)
  const listed = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--find-renames', '-l1000', from, to]
  const changes = parseRaw((await runGit(cwd, listed, { signal })).stdout)
  const byOldPath = new Map(changes.map((change) => [change.old_path ?? change.path, change]))
  const found: (LineChange | null)[] = []
  for (const place of places) {
    const change = byOldPath.get(place.path)
    const { old_blob, new_blob } = change ?? {}
    const isSame = old_blob == null || old_blob === new_blob
    found.push(isSame ? null : await lineChange(cwd, old_blob, new_blob ?? null, place, { signal }))
  }
  return found
}

/** Returns how far lines have moved from one blob to another; null if they have changed or the patch is too large. */
export async function lineShift(
  cwd: string,
  old_blob: string,
  new_blob: string,
  { line, start_line = line }: LinePlace,
  { signal }: Options,
): Promise<number | null> {
  if (old_blob === new_blob) return 0
  const args = ['diff', ...form, '--unified=0', old_blob, new_blob, '--']
  const { stdout } = await runGit(cwd, args, { signal, accept: [0, 1], maxOutput: maxPatch })
  const patch = stdout.toString('utf8')
  return changeAt(patch, { from: start_line, to: line }) === null ? shiftBefore(patch, start_line) : null
}

/** Returns by how many lines the text above a line has grown. */
function shiftBefore(patch: string, line: number): number {
  return rowsOf(patch)
    .filter(({ was }) => was < line)
    .reduce((sum, { kind }) => sum + (kind === '+' ? 1 : kind === '-' ? -1 : 0), 0)
}

async function lineChange(
  cwd: string,
  old_blob: string,
  new_blob: string | null,
  { line, start_line = line }: LinePlace,
  { signal }: Options,
): Promise<LineChange | null> {
  const asked = { from: start_line, to: line }
  try {
    if (new_blob === null) {
      const { stdout } = await runGit(cwd, ['cat-file', 'blob', old_blob], { signal, maxOutput: maxPatch })
      const lines = stdout.toString('utf8').split('\n')
      return shortened({ line: null, before: lines.slice(asked.from - 1, asked.to), after: [] })
    }
    // The unchanged lines of the place are shown as context, which must be as long as the place.
    const context = `--unified=${asked.to - asked.from + 1}`
    const args = ['diff', ...form, context, old_blob, new_blob, '--']
    const { stdout } = await runGit(cwd, args, { signal, accept: [0, 1], maxOutput: maxPatch })
    const change = changeAt(stdout.toString('utf8'), asked)
    return change && shortened(change)
  } catch (error) {
    // A patch that is too large to read gives no result.
    if (error instanceof GitError && !signal.aborted) return null
    throw error
  }
}

interface Row {
  readonly hunk: number
  readonly kind: ' ' | '-' | '+'
  /** Line number before; for an added line that of the line before it. */
  readonly was: number
  /** Line number now; for a removed line that of the line before it. */
  readonly is: number
  readonly text: string
}

/** Returns how a patch changes lines of its first side; null for no change. */
export function changeAt(
  patch: string,
  { from, to }: { readonly from: number; readonly to: number },
): Pick<LineChange, 'line' | 'before' | 'after'> | null {
  const runs = changedRuns(rowsOf(patch))
  const touches = (row: Row): boolean =>
    row.kind === '-' ? row.was >= from && row.was <= to : row.was >= from && row.was < to
  const touching = runs.filter((run) => run.some(touches))
  if (touching.length === 0) return null
  const removed = touching.flat().filter(({ kind }) => kind === '-')
  const first = Math.min(from, ...removed.map(({ was }) => was))
  const last = Math.max(to, ...removed.map(({ was }) => was))
  const inside = rowsOf(patch).filter(({ kind, was }) => kind !== '+' && was >= first && was <= last)
  const added = new Set(
    touching
      .flat()
      .filter(({ kind }) => kind === '+')
      .map(({ is }) => is),
  )
  const after = rowsOf(patch).filter(
    ({ kind, was, is }) => (kind === '+' && added.has(is)) || (kind === ' ' && was >= first && was <= last),
  )
  return {
    line: after.at(-1)?.is ?? null,
    before: inside.map(({ text }) => text),
    after: after.map(({ text }) => text),
  }
}

function rowsOf(patch: string): readonly Row[] {
  const rows: Row[] = []
  let [was, is, hunks] = [0, 0, 0]
  for (const line of patch.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (hunk) {
      hunks++
      // For a side without lines, git gives the number of the line before.
      was = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1)
      is = Number(hunk[3]) - (hunk[4] === '0' ? 0 : 1)
      continue
    }
    const kind = line.charAt(0)
    if (hunks === 0 || (kind !== ' ' && kind !== '-' && kind !== '+')) continue
    if (kind !== '+') was++
    if (kind !== '-') is++
    rows.push({ hunk: hunks, kind, was, is, text: line.slice(1).replace(/\r$/, '') })
  }
  return rows
}

/** Returns groups of adjacent removed and added lines. */
function changedRuns(rows: readonly Row[]): readonly (readonly Row[])[] {
  const runs: Row[][] = []
  let open: number | null = null
  for (const row of rows) {
    if (row.kind !== ' ' && open === row.hunk) runs.at(-1)?.push(row)
    else if (row.kind !== ' ') runs.push([row])
    open = row.kind === ' ' ? null : row.hunk
  }
  return runs
}

function shortened({ line, before, after }: Pick<LineChange, 'line' | 'before' | 'after'>): LineChange {
  const cut = (lines: readonly string[]) => lines.slice(0, maxLines).map((text) => text.slice(0, maxLength))
  const isLong = (lines: readonly string[]) => lines.length > maxLines || lines.some(({ length }) => length > maxLength)
  return { line, before: cut(before), after: cut(after), truncated: isLong(before) || isLong(after) }
}
