import { createHash } from 'node:crypto'
import { numberHunks, type FileHunks, type ListedChange } from '../chapters/rules/hunk.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { BranchHunks } from '../ports/diff-reader.ts'
import { patchArgs, readParts } from './commands/diff.ts'
import type { PatchPart } from './commands/patch-parts.ts'
import type { RawChange } from './commands/raw-changes.ts'
import { treeOf } from './commands/merge.ts'
import { unreadChanges } from './commands/unread-files.ts'
import type { WorktreeIndexes } from './commands/worktree-index.ts'
import { compareBranch, type ComparedSides } from './read-diff.ts'

const limits = { file_bytes: 1024 * 1024, total_bytes: 64 * 1024 * 1024 }
/** Overrides of `patchArgs`: an id must not depend on the user's configuration, and context is no change. */
const args = [...patchArgs, '--unified=0', '--diff-algorithm=histogram', '--find-renames=50%']

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

async function readHunks(sides: ComparedSides, { signal }: Cancellable): Promise<readonly FileHunks[]> {
  const { changes, parts } = await readParts(sides, args, { signal, limits, wants: null })
  const byPath = new Map(parts.map(({ change, part }) => [change.path, part]))
  const unread = (await unreadChanges(sides, { signal })).map((file): ListedChange => ({
    ...file,
    old_blob: null,
    new_blob: file.blob,
    patch: null,
  }))
  const listed = [...changes.map((change) => listChange(change, byPath.get(change.path))), ...unread]
  return numberHunks(listed, { digest, decode })
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
    binary: part?.binary ?? false,
    patch: typeof kept === 'string' ? (part ? null : '') : kept.toString('latin1'),
  }
}

const digest = (latin1: string): string => createHash('sha256').update(latin1, 'latin1').digest('hex').slice(0, 32)
const decode = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('utf8')
