import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { readHead } from '../commands/branch.ts'
import { commitTree } from '../commands/commit.ts'
import { withSnapshot, type LargeFile } from '../commands/snapshot.ts'
import { commonDir } from '../commands/worktree.ts'

export interface WorktreeSnapshot {
  /** The uncommitted files on top of HEAD, staged ones that differ as second parent; HEAD itself if there are none. */
  readonly commit: string
  readonly head: string
  readonly tree: string
  readonly staged: string
  /** Files that are larger than allowed, and stay where they are. */
  readonly left_out: readonly LargeFile[]
  /** False if a file could not be read. */
  readonly complete: boolean
}

export interface SnapshotRequest extends Cancellable {
  readonly max_file_bytes: number
  /** Gets the new objects, so that the repository doesn't grow with every snapshot; is made if missing. */
  readonly objects: string
  /** If nothing has changed since, it is returned. */
  readonly previous: WorktreeSnapshot | null
}

/** Returns the environment in which git sees new objects of snapshots beside those of a repository. */
export const objectsEnv = (objects: string, borrowed: readonly string[]): Readonly<Record<string, string>> => ({
  GIT_OBJECT_DIRECTORY: objects,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: borrowed.map((path) => `"${path.replaceAll(/["\\]/g, '\\$&')}"`).join(':'),
})

/**
 * Takes a snapshot of a worktree's files that are not ignored, in the form of a rescue. Index, refs and files of the
 * worktree are not touched, so a rebase or a conflict may be under way. Null if HEAD has no commit yet.
 */
export async function makeSnapshot(worktree: string, request: SnapshotRequest): Promise<WorktreeSnapshot | null> {
  const { signal, max_file_bytes, objects, previous } = request
  await mkdir(objects, { recursive: true, mode: 0o700 })
  const env = objectsEnv(objects, [join(await commonDir(worktree, { signal }), 'objects')])
  return await withSnapshot(worktree, { signal, max_file_bytes, objects: env }, async (snapshot) => {
    const head = await readHead(worktree, { signal })
    if (head === null) return null
    const { tree, staged, left_out, complete } = snapshot
    const found = { head: head.commit, tree, staged, left_out, complete }
    if (previous?.head === head.commit && previous.tree === tree && previous.staged === staged)
      return { ...found, commit: previous.commit }
    const commit = (of: string, parents: readonly string[], message: string): Promise<string> =>
      commitTree(worktree, { tree: of, parents, message }, { signal, env })
    const parents = [head.commit]
    if (staged !== head.tree && staged !== tree)
      parents.push(await commit(staged, [head.commit], 'What was staged in a worktree elsewhere\n'))
    if (tree === head.tree && parents.length === 1) return { ...found, commit: head.commit }
    return { ...found, commit: await commit(tree, parents, 'What was uncommitted in a worktree elsewhere\n') }
  })
}
