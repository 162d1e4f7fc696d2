import type { RescueReason } from '../../../src-shared/contract/rescues.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { isReachable, moveRef, readHead, resolveCommit } from '../commands/branch.ts'
import { commitTree } from '../commands/commit.ts'
import { countChanged, countLooseFiles } from '../commands/count-files.ts'
import { emptyTree } from '../commands/merge.ts'
import { withSnapshot, type Snapshot, type SnapshotOptions } from '../commands/snapshot.ts'
import { changedPaths } from '../commands/tree-paths.ts'
import { writeNote, type RescueNote } from './rescue-note.ts'

export interface RescueOptions extends Cancellable {
  readonly now: () => number
  readonly reason: RescueReason
}

export interface Rescued {
  /** The ref of the uncommitted work, null if all was committed. */
  readonly ref: string | null
  /** False if the commit can't contain everything: unreadable files, or repositories within the worktree. */
  readonly complete: boolean
  /** False if a file is unreadable, or a nested repository has no commit. */
  readonly readable: boolean
  readonly kept: KeptFiles
}

/** The files that were saved, to be compared with later ones. */
export interface KeptFiles {
  readonly tree: string
  readonly staged: string
  /** The tree of HEAD. */
  readonly committed: string
}

/**
 * Saves a worktree's uncommitted work as a commit on top of its HEAD: the files on disk, and as second parent the
 * staged ones if they equal neither HEAD nor the disk. The worktree is unchanged (invariant I6). `use` gets the result,
 * with the snapshot's own index.
 */
export async function withRescue<T>(
  path: string,
  task: string,
  options: RescueOptions & Pick<SnapshotOptions, 'git_dir' | 'nested'>,
  use: (rescued: Rescued, env: Snapshot['env']) => Promise<T>,
): Promise<T> {
  return await withSnapshot(path, options, async (snapshot) => {
    const what = `the workspace of task ${task}`
    const { commit, files, kept, complete } = await commitSnapshot(path, snapshot, what, options)
    const note = { kind: 'uncommitted', files } as const
    const ref = commit === null ? null : await rescueCommit(path, commit, task, { ...options, note })
    return await use({ ref, complete, readable: snapshot.complete, kept }, snapshot.env)
  })
}

export const rescueUncommitted = (
  path: string,
  task: string,
  options: RescueOptions & Pick<SnapshotOptions, 'git_dir'>,
): Promise<Rescued> => withRescue(path, task, options, (rescued) => Promise.resolve(rescued))

/** A snapshot's changes against HEAD, as a commit. */
export interface CommittedSnapshot {
  /** null if there are none. */
  readonly commit: string | null
  /** Number of differing files. */
  readonly files: number
  readonly kept: KeptFiles
  /** Whether the commit contains everything. */
  readonly complete: boolean
}

/** Commits a snapshot's changes against HEAD. `what` names its location. */
export async function commitSnapshot(
  cwd: string,
  snapshot: Snapshot,
  what: string,
  { signal }: Cancellable,
): Promise<CommittedSnapshot> {
  const { tree, staged } = snapshot
  const head = await readHead(cwd, { signal })
  const committed = head?.tree ?? (await emptyTree(cwd, { signal }))
  const kept = { tree, staged, committed }
  const stagedOnly = staged === committed || staged === tree ? null : staged
  const complete = snapshot.complete && !(await addsRepositories(cwd, kept, { signal }))
  if (committed === tree && stagedOnly === null) return { commit: null, files: 0, kept, complete }
  const parents = head === null ? [] : [head.commit]
  if (stagedOnly !== null) {
    const message = `What was staged in ${what}\n`
    parents.push(await commitTree(cwd, { tree: stagedOnly, parents, message }, { signal }))
  }
  const commit = await commitTree(cwd, { tree, parents, message: `${uncommittedIn} ${what}\n` }, { signal })
  const files = await countChanged(cwd, committed, committed === tree ? staged : tree, { signal })
  return { commit, files, kept, complete }
}

/** First words of the message of a commit with uncommitted files. */
export const uncommittedIn = 'What was uncommitted in'

/** Keeps a commit under `refs/svc/rescue/{task}/{time}`, with a note that describes it. */
export async function rescueCommit(
  cwd: string,
  commit: string,
  task: string,
  options: RescueOptions & { readonly note: Pick<RescueNote, 'kind' | 'files'> & { readonly submodule?: string } },
): Promise<string> {
  const { signal, now, reason, note } = options
  const time = new Date(now()).toISOString().replaceAll(/[-:.]/g, '')
  const text = writeNote({ submodule: null, ...note, reason })
  for (let number = 1; number < 100; number += 1) {
    const ref = `refs/svc/rescue/${task}/${time}${number === 1 ? '' : `-${number}`}`
    if (await moveRef(cwd, ref, { to: commit, from: null, reason: text }, { signal, reflog: true })) return ref
    if ((await resolveCommit(cwd, ref, { signal })) === commit) return ref
  }
  throw new Error(`No rescue ref could be made for task ${task} at ${time}.`)
}

/** Keeps a commit unless another ref leads to it. */
export async function rescueIfUnreachable(
  cwd: string,
  commit: string,
  task: string,
  options: RescueOptions & { readonly except?: string },
): Promise<string | null> {
  const { signal, except } = options
  const but = except === undefined ? {} : { except }
  if (await isReachable(cwd, commit, { signal, ...but })) return null
  const files = await countLooseFiles(cwd, commit, { signal, ...but })
  return await rescueCommit(cwd, commit, task, { ...options, note: { kind: 'commits', files } })
}

/**
 * Returns whether the work adds repositories: git records only their commits, so their files are not in the rescue.
 * Staged ones are submodules, which are saved separately.
 */
async function addsRepositories(cwd: string, { tree, staged }: KeptFiles, { signal }: Cancellable): Promise<boolean> {
  if (staged === tree) return false
  const found = await changedPaths(cwd, staged, tree, { signal })
  return found.some(({ mode, status }) => mode === '160000' && status !== 'M')
}
