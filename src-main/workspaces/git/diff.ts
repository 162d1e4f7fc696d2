import type { DiffStat } from '../../../src-shared/contract/tasks.ts'
import type { Diff, DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { createPatchReader } from './patch-reader.ts'
import { runGit, splitNul } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal' | 'env'>

export interface TreeChange {
  readonly status: 'A' | 'D' | 'M' | 'T' | 'R'
  readonly path: string
  readonly old_path: string | null
  readonly additions: number
  readonly deletions: number
  readonly binary: boolean
}

const fileBytes = 1024 * 1024
const totalBytes = 8 * 1024 * 1024
const askedFileBytes = 64 * 1024 * 1024

/** What differs between two trees (or commits), in git's order, renames found. */
export async function treeChanges(
  cwd: string,
  from: string,
  to: string,
  { signal, env = {}, renames = true }: Options & { readonly renames?: boolean },
): Promise<readonly TreeChange[]> {
  const kind = [renames ? '--find-renames' : '--no-renames', '--ignore-submodules=none']
  const args = ['diff-tree', '-r', '-z', '--raw', '--numstat', '--no-ext-diff', '--no-textconv', ...kind, from, to]
  const { stdout } = await runGit(cwd, args, { signal, env })
  return parseChanges(splitNul(stdout))
}

/**
 * The diff between two trees as people read it. A file whose patch is over 1 MB, and all that comes after 8 MB,
 * is listed without its patch; with `file` the answer is about that file alone and only 64 MB limit it.
 */
export async function treeDiff(
  cwd: string,
  from: string,
  to: string,
  { signal, env = {}, file }: Options & { readonly file: string | null },
): Promise<Pick<Diff, 'files' | 'patch' | 'truncated'>> {
  const changes = await treeChanges(cwd, from, to, { signal, env })
  const only = file === null ? null : changes.findIndex((change) => change.path === file || change.old_path === file)
  if (changes.length === 0 || only === -1) return { files: [], patch: '', truncated: false }
  const patches = await readPatches(cwd, from, to, { signal, env, changes, only })
  const wanted = changes.map((change, index) => ({ change, index })).filter(({ index }) => (only ?? index) === index)
  const files = wanted.map(({ change, index }) => describe(change, !patches.has(index)))
  return {
    files,
    patch: Buffer.concat(wanted.flatMap(({ index }) => patches.get(index) ?? [])).toString('utf8'),
    truncated: files.some(({ truncated }) => truncated),
  }
}

/** How much differs between two trees. */
export async function treeDiffStat(cwd: string, from: string, to: string, options: Options): Promise<DiffStat> {
  const changes = await treeChanges(cwd, from, to, options)
  return {
    files: changes.length,
    additions: changes.reduce((sum, change) => sum + change.additions, 0),
    deletions: changes.reduce((sum, change) => sum + change.deletions, 0),
  }
}

async function readPatches(
  cwd: string,
  from: string,
  to: string,
  { signal, env, changes, only }: Required<Options> & { changes: readonly TreeChange[]; only: number | null },
): Promise<ReadonlyMap<number, Buffer>> {
  const limits =
    only === null
      ? { file_bytes: fileBytes, total_bytes: totalBytes }
      : { file_bytes: askedFileBytes, total_bytes: askedFileBytes }
  // git writes a change of type (a file that became a symlink) as a deletion and an addition.
  const reader = createPatchReader(
    changes.map(({ status }) => (status === 'T' ? 2 : 1)),
    limits,
    only,
  )
  const format = ['--patch', '--full-index', '--find-renames', '--no-color', '--no-ext-diff', '--no-textconv']
  const fixed = ['--submodule=short', '--ignore-submodules=none', '--src-prefix=a/', '--dst-prefix=b/']
  const args = ['-c', 'core.quotePath=false', 'diff-tree', '-r', ...format, ...fixed, from, to]
  await runGit(cwd, args, { signal, env, onOutput: reader.take })
  return reader.end()
}

function describe(change: TreeChange, truncated: boolean): DiffFile {
  const status = { A: 'added', D: 'deleted', M: 'modified', T: 'modified', R: 'renamed' } as const
  return {
    path: change.path,
    old_path: change.old_path,
    status: status[change.status],
    additions: change.additions,
    deletions: change.deletions,
    binary: change.binary,
    truncated,
  }
}

/** `--raw --numstat -z`: first all raw records, then the counts in the same order. */
function parseChanges(fields: readonly string[]): readonly TreeChange[] {
  const named: Pick<TreeChange, 'status' | 'path' | 'old_path'>[] = []
  let at = 0
  const take = (): string => fields[at++] ?? ''
  while (fields[at]?.startsWith(':')) {
    const letter = take().split(' ').at(4)?.charAt(0)
    const status = letter === 'A' || letter === 'D' || letter === 'T' || letter === 'R' ? letter : 'M'
    const first = take()
    named.push(status === 'R' ? { status, old_path: first, path: take() } : { status, path: first, old_path: null })
  }
  return named.map((change) => {
    const [additions = '', deletions = ''] = take().split('\t')
    if (change.status === 'R') at += 2
    const binary = additions === '-'
    return { ...change, additions: binary ? 0 : Number(additions), deletions: binary ? 0 : Number(deletions), binary }
  })
}
