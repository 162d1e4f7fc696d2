import type { WorkPlace } from '../../../src-shared/contract/tasks.ts'
import type { BranchRef } from '../../ports/branch-ref.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { branchRef, resolveCommit } from '../commands/branch.ts'
import { peekCommonDir } from '../commands/peek.ts'
import { readGit } from '../commands/run-git.ts'
import { commonDir } from '../commands/worktree.ts'
import { leftPrefix, listLeft } from '../view/left-refs.ts'
import { countAt } from './settle-head.ts'
import { readStash } from './stash-list.ts'

type Worktree = BranchRef & { readonly path: string }

/** See `WorkElsewhere.leftWork`. */
export async function readLeftWork(
  ref: Worktree,
  known: readonly WorkPlace[],
  { signal }: Cancellable,
): Promise<readonly WorkPlace[]> {
  const common = (await peekCommonDir(ref.repo_path)) ?? (await commonDir(ref.path, { signal }))
  const left = await readLeftRefs(ref, common, { signal })
  if (known.length === 0 && left.length === 0) return []
  const stash = new Set((await readStash(ref.path, common, { signal })).map(({ id }) => id))
  const places: WorkPlace[] = []
  for (const place of known) {
    if (place.kind === 'stash' && place.ref !== null && stash.has(place.ref)) places.push(place)
    if (place.kind === 'branch' && (await hasOwnCommits(ref, place.ref, { signal }))) places.push(place)
  }
  return [...places, ...left]
}

async function readLeftRefs(ref: Worktree, common: string, { signal }: Cancellable): Promise<readonly WorkPlace[]> {
  const left = await listLeft(ref.path, common, ref.path, { signal })
  // A HEAD that is still there is a place of its own.
  const head = left.size === 0 ? null : await resolveCommit(ref.path, 'HEAD', { signal })
  const places: WorkPlace[] = []
  for (const [name, id] of left) {
    if (id === head) continue
    const isStash = name.startsWith(`${leftPrefix(ref.path)}stash/`)
    if (isStash) places.push({ kind: 'stash', ref: id, commits: 1, files: (await countAt(ref, id, { signal })).files })
    else if (await hasOwnCommits(ref, name, { signal }))
      places.push({ kind: 'branch', ref: name, ...(await countAt(ref, name, { signal })) })
  }
  return places
}

async function hasOwnCommits({ path, branch }: Worktree, name: string | null, { signal }: Cancellable) {
  if (name === null || (await resolveCommit(path, name, { signal })) === null) return false
  const args = ['rev-list', '--max-count=1', name, `^${branchRef(branch)}`]
  return (await readGit(path, args, { signal, accept: [0, 128] })) !== ''
}
