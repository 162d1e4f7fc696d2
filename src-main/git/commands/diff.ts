import type { DiffStat } from '../../../src-shared/contract/tasks.ts'
import type { FileChange, FileDiff } from '../../ports/diff-reader.ts'
import { createDiffReader } from './diff-reader.ts'
import type { PatchLimits, PatchPart } from './patch-parts.ts'
import { orNothing, statusOf, type RawChange } from './raw-changes.ts'
import { runGit, splitNul } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { findHiddenText } from './hidden-text.ts'
import { findText } from './text-blobs.ts'
import { allBut, inOrder, unreadChanges } from './unread-files.ts'
import type { UnreadFile } from './unread-files.ts'

type Options = Pick<GitOptions, 'signal' | 'env'>

/** The sides of a diff: two trees (or commits), or a tree and an index (null). */
export interface DiffSides {
  readonly cwd: string
  readonly from: string
  readonly to: string | null
  readonly env: Readonly<Record<string, string>>
  /** Files that git must not read; they are listed beside its output. */
  readonly unread: readonly UnreadFile[]
}

const fileBytes = 1024 * 1024
const totalBytes = 8 * 1024 * 1024
const askedFileBytes = 64 * 1024 * 1024
/** Maximum bytes of paths on a command line. */
const maxPathBytes = 256 * 1024

/** Fixes the output format and disables programs, whatever the user's configuration says. */
const settings = ['core.quotePath=false', 'core.bigFileThreshold=128m', 'diff.suppressBlankEmpty=false']
export const patchSettings = settings.flatMap((setting) => ['-c', setting])
const form = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-relative',
  '--ignore-submodules=dirty',
  '-O/dev/null',
  '-l1000',
  // The hunks of chapters are told apart by this algorithm, so all diffs use it.
  '--diff-algorithm=histogram',
]
const patchForm = ['--patch', '--full-index', '--no-abbrev', '--unified=3', '--inter-hunk-context=0']
const patchNames = ['--submodule=short', '--src-prefix=a/', '--dst-prefix=b/', '--indent-heuristic']

export const patchArgs = ['-z', '--raw', '--find-renames', ...form, ...patchForm, ...patchNames]
const nothingKept: PatchLimits = { file_bytes: 0, total_bytes: 0 }

/** Returns all changes between two sides with what git counts in each; 0 lines for what it calls binary. */
export async function listCounted(sides: DiffSides, { signal }: Options): Promise<readonly Counted[]> {
  const args = ['-z', '--raw', '--numstat', '--no-abbrev', '--find-renames', ...form]
  const { stdout } = await runGit(sides.cwd, diffArgs(sides, args, []), { signal, env: sides.env })
  return parseCounts(splitNul(stdout))
}

/** Returns the size of the difference between two sides. */
export async function readStat(sides: DiffSides, { signal }: Options): Promise<DiffStat> {
  const found = await listCounted(sides, { signal })
  const masked = await findMasked(sides, found, { signal })
  // `--numstat` applies attributes in spite of `--text`.
  const again =
    masked.length === 0 ? [] : await readUnmasked(sides, masked, { signal, limits: nothingKept, args: patchArgs })
  const unmasked = new Map(again.map(({ path, part }) => [path, part]))
  const isMasked = new Set<Counted>(masked)
  const changes = found.map((one) => (isMasked.has(one) ? (unmasked.get(one.path) ?? one) : one))
  return {
    files: changes.length + sides.unread.length,
    additions: changes.reduce((sum, change) => sum + change.additions, 0),
    deletions: changes.reduce((sum, change) => sum + change.deletions, 0),
  }
}

/** Returns the paths of those changes that no diff can show as text, though a reader would expect it. */
export async function readHiddenText(
  { cwd, env }: Pick<DiffSides, 'cwd' | 'env'>,
  changes: readonly Counted[],
  { signal }: Options,
): Promise<readonly string[]> {
  const binary = changes.filter((change) => change.binary)
  if (binary.length === 0) return []
  return findHiddenText(binary, await findText(cwd, binary.flatMap(blobsOf), { signal, env }))
}

/** A readable diff, and all changes, wanted or not. */
export interface ReadPatch {
  readonly diff: Pick<FileDiff, 'files' | 'patch' | 'truncated'>
  readonly changes: readonly RawChange[]
}

/**
 * Returns the diff between two sides in one pass of git, and another where attributes call text binary. A file whose
 * patch is over 1 MB, and all files after the first 8 MB, are listed without patch; with `file` only that file is read,
 * with a limit of 64 MB.
 */
export async function readPatch(
  sides: DiffSides,
  { signal, file, ignore_whitespace = false }: Options & { file: string | null; ignore_whitespace?: boolean },
): Promise<ReadPatch> {
  const limits =
    file === null
      ? { file_bytes: fileBytes, total_bytes: totalBytes }
      : { file_bytes: askedFileBytes, total_bytes: askedFileBytes }
  const isAsked = ({ path, old_path }: RawChange): boolean => path === file || old_path === file
  const args = [...patchArgs, ...(ignore_whitespace ? ['--ignore-all-space'] : [])]
  const { changes, parts } = await readParts(sides, args, { signal, limits, wants: file === null ? null : isAsked })
  const unread = sides.unread.filter(({ path }) => file === null || path === file)
  const files = inOrder(
    parts.map(({ change, part }) => describe(change, part)),
    await unreadChanges({ ...sides, unread }, { signal }),
  )
  const diff = {
    files,
    patch: Buffer.concat(parts.flatMap(({ part }) => (typeof part.kept === 'string' ? [] : [part.kept]))).toString(),
    truncated: files.some(({ truncated }) => truncated),
  }
  return { diff, changes }
}

interface PartsQuery extends Options {
  readonly limits: PatchLimits
  /** Picks the one file that is read; null for all. */
  readonly wants: ((change: RawChange) => boolean) | null
}

/** A change and its part of the patch. */
export interface ChangePart {
  readonly change: RawChange
  readonly part: PatchPart
}

/**
 * Returns all changes between two sides, and the patches of those that are wanted: one pass of git, and another where
 * attributes call text binary. `args` are `patchArgs` and what differs from them.
 */
export async function readParts(
  sides: DiffSides,
  args: readonly string[],
  { signal, limits, wants }: PartsQuery,
): Promise<{ readonly changes: readonly RawChange[]; readonly parts: readonly ChangePart[] }> {
  const reader = createDiffReader(limits, wants)
  await runGit(sides.cwd, diffArgs(sides, args, []), { signal, env: sides.env, onOutput: reader.take })
  const [found, changes] = [reader.end(), reader.changes()]
  const binary = found.filter(({ part }) => part.binary)
  const masked = await findMasked(
    sides,
    binary.map((one) => ({ ...one, binary: true })),
    { signal },
  )
  const again = masked.length === 0 ? [] : await readUnmasked(sides, masked, { signal, limits, args })
  const isMasked = new Set(masked.map(({ path }) => path))
  const unmasked = new Map(again.filter(({ path }) => isMasked.has(path)).map((one) => [one.path, one.part]))
  const parts = found.map(({ part, ...change }) => ({ change, part: unmasked.get(change.path) ?? part }))
  return { changes, parts }
}

type Maskable = Pick<RawChange, 'path' | 'old_path' | 'old_blob' | 'new_blob'> & { readonly binary: boolean }

/** Returns the changes that git calls binary because of attributes, not because of their content. */
async function findMasked<T extends Maskable>(
  { cwd, env }: DiffSides,
  changes: readonly T[],
  { signal }: Options,
): Promise<readonly T[]> {
  const binary = changes.filter((change) => change.binary)
  if (binary.length === 0) return []
  const text = await findText(cwd, binary.flatMap(blobsOf), { signal, env })
  return binary.filter((change) => blobsOf(change).every((id) => text.has(id)))
}

const blobsOf = ({ old_blob, new_blob }: Maskable) => [old_blob, new_blob].filter((id) => id !== null)

/** Reads changes that attributes call binary as text. */
async function readUnmasked(
  sides: DiffSides,
  masked: readonly Maskable[],
  { signal, limits, args }: Options & { readonly limits: PatchLimits; readonly args: readonly string[] },
) {
  const reader = createDiffReader(limits, null)
  const asText = diffArgs(sides, [...args, '--text'], pathsOf(masked))
  await runGit(sides.cwd, asText, { signal, env: sides.env, onOutput: reader.take })
  return reader.end()
}

/**
 * Returns the paths that limit a diff to these changes; none, which means all, if they are too many for a command
 * line.
 */
function pathsOf(changes: readonly Maskable[]): readonly string[] {
  const paths = changes.flatMap(({ path, old_path }) => (old_path === null ? [path] : [old_path, path]))
  // Names that are not UTF-8 can't be passed to git as arguments.
  const fits = paths.every((path) => !path.includes('\ufffd')) && paths.join('').length < maxPathBytes
  return fits ? paths.map((path) => `:(top,literal)${path}`) : []
}

function diffArgs({ from, to, unread }: DiffSides, args: readonly string[], only: readonly string[]) {
  const excluded = allBut(unread)
  const paths = excluded.length > 0 && only.length === 0 ? [':/', ...excluded] : [...only, ...excluded]
  return to === null
    ? [...patchSettings, 'diff-index', '--cached', '-r', ...args, from, '--', ...paths]
    : [...patchSettings, 'diff-tree', '-r', ...args, from, to, '--', ...paths]
}

function describe(change: RawChange, part: PatchPart): FileChange {
  const status = { A: 'added', D: 'deleted', M: 'modified', T: 'modified', R: 'renamed', U: 'modified' } as const
  const { additions, deletions, binary, kept } = part
  const isLeftOut = typeof kept === 'string'
  return {
    path: change.path,
    old_path: change.old_path,
    status: status[change.status],
    old_mode: change.old_mode,
    new_mode: change.new_mode,
    // Without an `index` line the content is unchanged: only the name or mode differs.
    blob: change.status === 'D' ? null : (part.new_blob ?? change.new_blob ?? change.old_blob),
    additions,
    deletions,
    binary,
    truncated: isLeftOut,
    reason: isLeftOut ? kept : binary ? 'binary' : null,
  }
}

/** A change with its numbers of lines. */
export interface Counted extends Maskable {
  readonly status: RawChange['status']
  readonly new_mode: string | null
  readonly additions: number
  readonly deletions: number
}

/** Parses `--raw --numstat -z`: first all raw records, then the counts in the same order. */
function parseCounts(fields: readonly string[]): readonly Counted[] {
  const raw: Omit<Counted, 'binary' | 'additions' | 'deletions'>[] = []
  let at = 0
  while (fields[at]?.startsWith(':')) {
    const [, newMode = '', oldBlob = '', newBlob = '', letters = ''] = (fields[at] ?? '').split(' ')
    const isRename = letters.startsWith('R')
    const first = fields[at + 1] ?? ''
    const path = isRename ? (fields[at + 2] ?? '') : first
    raw.push({
      status: statusOf(letters.charAt(0)),
      path,
      old_path: isRename ? first : null,
      new_mode: orNothing(newMode),
      old_blob: orNothing(oldBlob),
      new_blob: orNothing(newBlob),
    })
    at += isRename ? 3 : 2
  }
  return raw.map((change) => {
    const [additions = '', deletions = ''] = fields[at]?.split('\t') ?? []
    at += change.old_path === null ? 1 : 3
    // git counts no lines of a binary file.
    const binary = additions === '-'
    return { ...change, binary, additions: binary ? 0 : Number(additions), deletions: binary ? 0 : Number(deletions) }
  })
}
