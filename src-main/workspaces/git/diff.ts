import type { DiffStat } from '../../../src-shared/contract/tasks.ts'
import type { FileChange, FileDiff } from '../../engine/ports/diff-reader.ts'
import { createDiffReader } from './diff-reader.ts'
import type { PatchPart } from './patch-parts.ts'
import type { RawChange } from './raw-changes.ts'
import { runGit, splitNul } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { allButLock, unmonitored } from './status.ts'
import { allBut, inOrder, unreadChanges } from './unread-files.ts'
import type { UnreadFile } from './unread-files.ts'

type Options = Pick<GitOptions, 'signal' | 'env'>

/** What two sides of a diff differ in: two trees (or commits), or a tree and the worktree that git runs in (null). */
export interface DiffSides {
  readonly cwd: string
  readonly from: string
  readonly to: string | null
  readonly env: Readonly<Record<string, string>>
  /** Files that git is not to look at; they are told beside what it says. */
  readonly unread: readonly UnreadFile[]
}

const fileBytes = 1024 * 1024
const totalBytes = 8 * 1024 * 1024
const askedFileBytes = 64 * 1024 * 1024

/** Whatever the user's configuration says, the output has this form, and no program of theirs runs or stays. */
const settings = [
  ...['core.quotePath=false', 'core.bigFileThreshold=128m'],
  ...['diff.suppressBlankEmpty=false', 'diff.autoRefreshIndex=true'],
]
const config = [...unmonitored, ...settings.flatMap((setting) => ['-c', setting])]
const form = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-relative',
  '--ignore-submodules=dirty',
  '-O/dev/null',
  '-l1000',
]
const patchForm = ['--patch', '--full-index', '--no-abbrev', '--unified=3', '--inter-hunk-context=0']
const patchNames = [
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--diff-algorithm=default',
  '--indent-heuristic',
]

/** How much differs between two sides; null when git could not merge some file and does not look inside it. */
export async function readStat(sides: DiffSides, { signal }: Options): Promise<DiffStat | null> {
  const args = ['-z', '--raw', '--numstat', '--find-renames', ...form]
  const { stdout } = await runGit(sides.cwd, diffArgs(sides, args), { signal, env: sides.env })
  const changes = parseCounts(splitNul(stdout))
  if (changes === null) return null
  return {
    files: changes.length + sides.unread.length,
    additions: changes.reduce((sum, change) => sum + change.additions, 0),
    deletions: changes.reduce((sum, change) => sum + change.deletions, 0),
  }
}

/**
 * The diff between two sides as people read it, by one pass of git. A file whose patch is over 1 MB, and all that
 * comes after 8 MB, is listed without its patch; with `file` the answer is about that file alone and only 64 MB
 * limit it. null when git could not merge some file and does not look inside it.
 */
export async function readPatch(
  sides: DiffSides,
  { signal, file, ignore_whitespace = false }: Options & { file: string | null; ignore_whitespace?: boolean },
): Promise<Omit<FileDiff, 'base'> | null> {
  const limits =
    file === null
      ? { file_bytes: fileBytes, total_bytes: totalBytes }
      : { file_bytes: askedFileBytes, total_bytes: askedFileBytes }
  const isAsked = ({ path, old_path }: RawChange): boolean => path === file || old_path === file
  const reader = createDiffReader(limits, file === null ? null : isAsked)
  const args = ['-z', '--raw', '--find-renames', ...form, ...patchForm, ...patchNames]
  if (ignore_whitespace) args.push('--ignore-all-space')
  await runGit(sides.cwd, diffArgs(sides, args), { signal, env: sides.env, onOutput: reader.take })
  const found = reader.end()
  if (reader.changes().some(({ status }) => status === 'U')) return null
  const unread = sides.unread.filter(({ path }) => file === null || path === file)
  const files = inOrder(
    found.map(({ part, ...change }) => describe(change, part)),
    await unreadChanges({ ...sides, unread }, { signal }),
  )
  return {
    files,
    patch: Buffer.concat(found.flatMap(({ part }) => (typeof part.kept === 'string' ? [] : [part.kept]))).toString(),
    truncated: files.some(({ truncated }) => truncated),
  }
}

function diffArgs({ from, to, unread }: DiffSides, args: readonly string[]): readonly string[] {
  const paths = allBut(unread)
  return to === null
    ? [...config, 'diff', ...args, from, '--', ...allButLock, ...paths]
    : [...config, 'diff-tree', '-r', ...args, from, to, '--', ...(paths.length > 0 ? [':/', ...paths] : [])]
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
    // Without an `index` line the content is what it was: only its name or mode is another.
    blob: change.status === 'D' ? null : (part.new_blob ?? change.new_blob ?? change.old_blob),
    additions,
    deletions,
    binary,
    truncated: isLeftOut,
    reason: isLeftOut ? kept : binary ? 'binary' : null,
  }
}

/** `--raw --numstat -z`: first all raw records, then the counts in the same order; null where one is not merged. */
function parseCounts(fields: readonly string[]): readonly Pick<DiffStat, 'additions' | 'deletions'>[] | null {
  const letters: (string | undefined)[] = []
  let at = 0
  while (fields[at]?.startsWith(':')) {
    const letter = fields[at]?.split(' ').at(4)?.charAt(0)
    letters.push(letter)
    at += letter === 'R' ? 3 : 2
  }
  if (letters.includes('U')) return null
  return letters.map((letter) => {
    const [additions = '', deletions = ''] = fields[at]?.split('\t') ?? []
    at += letter === 'R' ? 3 : 1
    // Of a binary file git counts no lines.
    return additions === '-'
      ? { additions: 0, deletions: 0 }
      : { additions: Number(additions), deletions: Number(deletions) }
  })
}
