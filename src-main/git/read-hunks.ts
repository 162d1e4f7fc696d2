import { createHash } from 'node:crypto'
import type { ChangedSource } from '../chapters/rules/facts.ts'
import { numberHunks, type FileHunks, type ListedChange } from '../chapters/rules/hunk.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { BranchHunks, BranchSources } from '../ports/diff-reader.ts'
import { patchArgs, readParts } from './commands/diff.ts'
import type { PatchPart } from './commands/patch-parts.ts'
import type { RawChange } from './commands/raw-changes.ts'
import { treeOf } from './commands/merge.ts'
import { findGenerated } from './commands/generated-files.ts'
import { readTexts } from './commands/read-texts.ts'
import { unreadChanges } from './commands/unread-files.ts'
import type { WorktreeIndexes } from './commands/worktree-index.ts'
import { compareBranch, type ComparedSides } from './read-diff.ts'

const limits = { file_bytes: 1024 * 1024, total_bytes: 64 * 1024 * 1024 }
/** Overrides of `patchArgs`: context is no change. Otherwise as the diff, whose lines readers see. */
const args = [...patchArgs, '--unified=0', '--find-renames=50%']

/** Reads the hunks of all of a task's work, see `DiffReader.hunks`. */
export async function readBranchHunks(
  ref: BranchRef,
  { signal, indexes }: Cancellable & { readonly indexes: WorktreeIndexes },
): Promise<BranchHunks> {
  return await compareBranch(ref, { signal, indexes }, async (sides) => {
    const tree = await sides.tree()
    const base_tree = await treeOf(sides.cwd, sides.from, { signal })
    return { base_tree, tree, files: await readHunks(sides, { signal }) }
  })
}

/** Reads hunks and contents, see `DiffReader.sources`. */
export async function readBranchSources(
  ref: BranchRef,
  isKnown: (trees: Pick<BranchSources, 'base_tree' | 'tree'>) => boolean,
  { signal, indexes }: Cancellable & { readonly indexes: WorktreeIndexes },
): Promise<BranchSources> {
  return await compareBranch(ref, { signal, indexes }, async (sides) => {
    const tree = await sides.tree()
    const base_tree = await treeOf(sides.cwd, sides.from, { signal })
    if (isKnown({ base_tree, tree })) return { base_tree, tree, files: null }
    const listed = await listChanges(sides, { signal })
    return { base_tree, tree, files: await addContents(sides, base_tree, listed, { signal }) }
  })
}

async function addContents(
  { cwd, env }: ComparedSides,
  base_tree: string,
  listed: readonly ListedChange[],
  { signal }: Cancellable,
): Promise<readonly ChangedSource[]> {
  const files = numberHunks(listed, { digest, decode })
  const isRead = (file: FileHunks): boolean => file.hunks.some(({ cause }) => cause === 'lines')
  const read = listed.filter((_, at) => files[at] !== undefined && isRead(files[at]))
  const [texts, generated] = await Promise.all([
    readTexts(
      cwd,
      read.flatMap((change) => [...idOf(change.old_mode, change.old_blob), ...idOf(change.new_mode, change.new_blob)]),
      { signal, env },
    ),
    findGenerated(cwd, base_tree, listed.flatMap(pathsOf), { signal }),
  ])
  return files.map((file, at): ChangedSource => {
    const change = listed[at]
    const textOf = (mode: string | null, blob: string | null): string | null =>
      isRead(file) ? (idOf(mode, blob).map((id) => texts.get(id) ?? null)[0] ?? null) : null
    return {
      ...file,
      old_text: textOf(file.old_mode, change?.old_blob ?? null),
      new_text: textOf(file.new_mode, change?.new_blob ?? null),
      // A file that was moved to where files are generated is none of them.
      is_generated: pathsOf(file).every((path) => generated.has(path)),
    }
  })
}

const pathsOf = ({ path, old_path }: Pick<FileHunks, 'path' | 'old_path'>): readonly string[] =>
  old_path === null ? [path] : [path, old_path]

/** Returns the blob of an ordinary file; a link or a submodule has no content that rules could read. */
const idOf = (mode: string | null, blob: string | null): readonly string[] =>
  blob !== null && mode?.startsWith('100') === true ? [blob] : []

async function readHunks(sides: ComparedSides, { signal }: Cancellable): Promise<readonly FileHunks[]> {
  return numberHunks(await listChanges(sides, { signal }), { digest, decode })
}

async function listChanges(sides: ComparedSides, { signal }: Cancellable): Promise<readonly ListedChange[]> {
  const { changes, parts } = await readParts(sides, args, { signal, limits, wants: null })
  const byPath = new Map(parts.map(({ change, part }) => [change.path, part]))
  const unread = (await unreadChanges(sides, { signal })).map((file): ListedChange => ({
    ...file,
    old_blob: null,
    new_blob: file.blob,
    patch: null,
  }))
  return [...changes.map((change) => listChange(change, byPath.get(change.path))), ...unread]
}

function listChange(change: RawChange, part: PatchPart | undefined): ListedChange {
  const { path, old_path, old_mode, new_mode, old_blob } = change
  const status = { A: 'added', D: 'deleted', M: 'modified', T: 'modified', R: 'renamed', U: 'modified' } as const
  const kept = part?.kept ?? ''
  return {
    path,
    old_path,
    status: status[change.status],
    old_mode,
    new_mode,
    old_blob,
    new_blob: part?.new_blob ?? change.new_blob,
    // Without an `index` line the content is unchanged: only the name or mode differs.
    blob: change.status === 'D' ? null : (part?.new_blob ?? change.new_blob ?? old_blob),
    binary: part?.binary ?? false,
    patch: typeof kept === 'string' ? (part ? null : '') : kept.toString('latin1'),
  }
}

const digest = (latin1: string): string => createHash('sha256').update(latin1, 'latin1').digest('hex').slice(0, 32)
const decode = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('utf8')
