import type { BranchRef } from '../ports/branch-ref.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { DiffFindings } from '../ports/diff-reader.ts'
import { countFiles } from './commands/count-files.ts'
import { listCounted, readHiddenText } from './commands/diff.ts'
import { listFiles } from './commands/list-files.ts'
import type { WorktreeIndexes } from './commands/worktree-index.ts'
import { compareBranch } from './read-diff.ts'
import { findSameNames } from './same-names.ts'

const maxNames = 50
/** A smaller tree is often replaced as a whole. */
const smallTree = 20

/** Reads what a reader of a task's changes may miss, see `DiffReader.findings`. */
export async function readDiffFindings(
  ref: BranchRef,
  { signal, indexes }: Cancellable & { readonly indexes: WorktreeIndexes },
): Promise<DiffFindings> {
  return await compareBranch(ref, { signal, indexes }, async (sides) => {
    const changes = await listCounted(sides, { signal })
    const isNew = changes.filter(({ status }) => status === 'A' || status === 'R')
    const added = [...isNew, ...sides.unread].map(({ path }) => path)
    const deleted = changes.filter(({ status }) => status === 'D').length
    // Only then can they be more than half.
    const of = deleted * 2 <= smallTree ? 0 : await countFiles(sides.cwd, sides.from, { signal })
    return {
      hidden_text: await readHiddenText(sides, changes, { signal }),
      same_names: added.length === 0 ? [] : findSameNames(await listFiles(sides, { signal }), added).slice(0, maxNames),
      mass_deletion: of > smallTree && deleted * 2 > of ? { deleted, of } : null,
    }
  })
}
