import { compareIds } from '../../../src-shared/lang/compare-ids.ts'
import { rm } from 'node:fs/promises'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { canConflict, nearFiles, type ChangedFile } from '../../overlaps/rules/compare-work.ts'
import { createKeyedLock } from '../../platform/locks/keyed-lock.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { ComparedWorktree, FoundOverlap, OverlapReader, OverlapRequest } from '../../ports/overlap-reader.ts'
import { knownMergeBase, resolveBase, resolveCommit } from '../commands/branch.ts'
import { GitError } from '../commands/git-error.ts'
import { peekBranch, peekHead } from '../commands/peek.ts'
import { readChangedFiles } from './changed-files.ts'
import { mergePairs } from './merge-pairs.ts'
import { explainFileError } from '../files/file-errors.ts'
import { createObjectFolder, overlapFolder, type ObjectFolder } from './object-folder.ts'
import { readUncommitted, type UncommittedPaths } from './uncommitted.ts'
import { writeCommits } from './write-commits.ts'

interface Work {
  readonly task_id: TaskId
  readonly path: string
  readonly head: string
  readonly uncommitted: UncommittedPaths
  /** A commit of all of it on top of the base. */
  readonly commit: string
  /** The same as it lies on its own base, where that has moved on. */
  readonly unmerged: string
  /** Files of it that conflict with the base: in `commit` they have markers. */
  readonly conflicts: ReadonlySet<string>
  readonly files: readonly ChangedFile[]
}

interface Group {
  folder: ObjectFolder
  tip: string
  works: Map<TaskId, Work>
  /** What merges of two commits came to, by both. */
  merges: Map<string, readonly string[]>
  readings: number
}

interface ReaderOptions {
  readonly dataDir?: string | undefined
  /** Runs what asks git about a worktree, in turn with whatever else does. */
  readonly inTurn: <T>(path: string, work: () => Promise<T>) => Promise<T>
}

/** After so many readings the objects of earlier ones are thrown away. */
const maxReadings = 200
const atOnce = 3

export function createOverlapReader({ dataDir, inTurn }: ReaderOptions): OverlapReader {
  const groups = new Map<string, Group>()
  const turns = createKeyedLock()
  const forget = async (name: string): Promise<void> => {
    const group = groups.get(name)
    groups.delete(name)
    await group?.folder.remove()
  }
  const open = async (request: OverlapRequest, { signal }: Cancellable): Promise<Group> => {
    const known = groups.get(request.group)
    if (known && known.readings < maxReadings) return known
    await forget(request.group)
    const folder = await createObjectFolder(request.repo_path, request.group, dataDir, { signal })
    const group: Group = { folder, tip: '', works: new Map(), merges: new Map(), readings: 0 }
    groups.set(request.group, group)
    return group
  }
  return {
    readOverlaps: (request, { signal }) =>
      turns.run(request.group, async () => {
        const group = await open(request, { signal })
        group.readings += 1
        try {
          await readWorks(group, request, { signal, inTurn })
          return await compare(group, request, { signal })
        } catch (error) {
          // What was read before may be what is wrong, as after objects were pruned.
          await forget(request.group)
          throw error
        }
      }),
    forgetOverlaps: (group) => turns.run(group, () => forget(group)),
  }
}

/** Removes what a killed service has left. */
export async function removeLeftOverlaps(dataDir: string): Promise<void> {
  await rm(overlapFolder(dataDir), { recursive: true, force: true })
}

type Read = Cancellable & Pick<ReaderOptions, 'inTurn'>

async function readWorks(group: Group, request: OverlapRequest, { signal, inTurn }: Read): Promise<void> {
  const { repo_path, base_branch, worktrees } = request
  const [first] = worktrees
  const tip =
    (first && (await peekBranch(first.path, base_branch))) ?? (await resolveBase(repo_path, base_branch, { signal }))
  const isMoved = tip !== group.tip
  group.tip = tip ?? ''
  const read = tip === null ? [] : await inBatches(worktrees, (one) => readOne(group, one, { signal, inTurn }))
  const drafts = read.filter((one) => one !== null)
  const fresh = drafts.filter((one) => isMoved || one !== group.works.get(one.task_id))
  const made = new Map((await commitAll(group, repo_path, fresh, { signal })).map((one) => [one.task_id, one]))
  group.works = new Map(
    drafts.flatMap((one) => {
      const work = made.get(one.task_id) ?? group.works.get(one.task_id)
      return work ? [[one.task_id, work] as const] : []
    }),
  )
}

type Draft = Omit<Work, 'commit' | 'unmerged' | 'conflicts' | 'files'>

/** Returns the very work that is known where nothing has changed; null where the worktree can't be read. */
async function readOne(
  group: Group,
  { task_id, path, changed }: ComparedWorktree,
  { signal, inTurn }: Read,
): Promise<Draft | null> {
  const known = group.works.get(task_id)
  if (known?.path === path && changed?.length === 0) return known
  try {
    return await inTurn(path, async () => {
      const head = (await peekHead(path))?.commit ?? (await resolveCommit(path, 'HEAD', { signal }))
      if (head === null) return null
      const before = known?.path === path ? known : null
      const scope = before?.head === head ? changed : null
      const { env } = group.folder
      const uncommitted = await readUncommitted(path, before?.uncommitted ?? new Map(), scope, { signal, env })
      if (before?.head === head && isSame(before.uncommitted, uncommitted)) return before
      return { task_id, path, head, uncommitted }
    })
  } catch (error) {
    const isUnreadable = error instanceof GitError || explainFileError(error) !== null
    if (!isUnreadable || signal.aborted) throw error
    return null
  }
}

function isSame(one: UncommittedPaths, other: UncommittedPaths): boolean {
  if (one.size !== other.size) return false
  for (const [key, value] of one) {
    const match = other.get(key)
    if (match?.kind !== value.kind) return false
    if (value.kind === 'object' && match.kind === 'object' && (value.id !== match.id || value.mode !== match.mode))
      return false
    if (value.kind === 'inline' && match.kind === 'inline' && !value.data.equals(match.data)) return false
  }
  return true
}

/**
 * Makes a commit of each worktree's work. One whose base has moved on is merged with it first, so that a conflict with
 * the base is none between two tasks.
 */
async function commitAll(
  group: Group,
  repo: string,
  drafts: readonly Draft[],
  { signal }: Cancellable,
): Promise<readonly Work[]> {
  const { folder, tip } = group
  const { env } = folder
  const dirty = drafts.filter(({ uncommitted }) => uncommitted.size > 0)
  const ids = await writeCommits(
    folder,
    dirty.map(({ head, uncommitted }) => ({ from: head, changes: uncommitted })),
    { signal },
  )
  const commits = new Map(drafts.map((draft) => [draft.task_id, draft.head]))
  for (const [number, { task_id }] of dirty.entries()) commits.set(task_id, ids[number] ?? '')
  const bases = await Promise.all(
    drafts.map(async ({ head }) => (head === tip ? tip : await knownMergeBase(repo, tip, head, { signal }))),
  )
  const behind = drafts.filter((_, number) => bases[number] !== tip)
  const commitOf = ({ task_id }: Draft): string => commits.get(task_id) ?? ''
  const merged = await mergePairs(
    repo,
    behind.map((one) => [tip, commitOf(one)] as const),
    { signal, env },
  )
  const onTip = await writeCommits(
    folder,
    behind.flatMap((one, number) => {
      const tree = merged[number]?.tree
      return tree === undefined ? [] : [{ from: tip, merge: commitOf(one), tree }]
    }),
    { signal },
  )
  const unmerged = new Map(commits)
  const conflicts = new Map(behind.map(({ task_id }, number) => [task_id, new Set(merged[number]?.files)]))
  let next = 0
  for (const [number, { task_id }] of behind.entries()) {
    // Without a common history there is nothing to compare.
    if (merged[number]) commits.set(task_id, onTip[next++] ?? '')
    else commits.delete(task_id)
  }
  return await inBatches(
    drafts.filter(({ task_id }) => commits.has(task_id)),
    async (draft) => {
      const commit = commitOf(draft)
      const own = { unmerged: unmerged.get(draft.task_id) ?? commit, conflicts: conflicts.get(draft.task_id) ?? none }
      return { ...draft, ...own, commit, files: await readChangedFiles(repo, tip, commit, { signal, env }) }
    },
  )
}

const none: ReadonlySet<string> = new Set()

async function compare(
  group: Group,
  { repo_path, isCompared }: OverlapRequest,
  { signal }: Cancellable,
): Promise<readonly FoundOverlap[]> {
  const works = [...group.works.values()].toSorted((one, other) => compareIds(one.task_id, other.task_id))
  const pairs = works.flatMap((a, number) =>
    works
      .slice(number + 1)
      .filter((b) => isCompared(a.task_id, b.task_id) && canConflict(a.files, b.files))
      .map((b) => ({ a, b, key: `${a.commit} ${b.commit}` })),
  )
  const open = pairs.filter(({ key }) => !group.merges.has(key))
  const merged = await group.folder.withThrowAway((env) => mergeWorks(repo_path, open, { signal, env }))
  const known = new Map(pairs.map(({ key }) => [key, group.merges.get(key) ?? []]))
  for (const [number, { key }] of open.entries()) known.set(key, merged[number] ?? [])
  group.merges = known
  return pairs.flatMap(({ a, b, key }): FoundOverlap[] => {
    const conflicts = known.get(key) ?? []
    // Lines of a file that conflicts with the base are those of its markers.
    const isPlain = (file: string) => !a.conflicts.has(file) && !b.conflicts.has(file)
    const near = conflicts.length > 0 ? [] : nearFiles(a.files, b.files).filter(isPlain)
    const files = [...conflicts, ...near].toSorted()
    if (files.length === 0) return []
    return [{ a: a.task_id, b: b.task_id, kind: conflicts.length > 0 ? 'conflict' : 'same_lines_nearby', files }]
  })
}

/** Returns the files in which each two conflict. */
async function mergeWorks(
  repo: string,
  pairs: readonly { readonly a: Work; readonly b: Work }[],
  options: Cancellable & { readonly env: Readonly<Record<string, string>> },
): Promise<readonly (readonly string[])[]> {
  const merged = await mergePairs(
    repo,
    pairs.map(({ a, b }) => [a.commit, b.commit] as const),
    options,
  )
  const isDoubtful = (number: number, file: string): boolean =>
    pairs[number]?.a.conflicts.has(file) === true || pairs[number]?.b.conflicts.has(file) === true
  // Markers of a conflict with the base conflict with everything: without that base they may not.
  const doubtful = pairs.flatMap((pair, number) =>
    merged[number]?.files.some((file) => isDoubtful(number, file)) ? [{ ...pair, number }] : [],
  )
  const again = await mergePairs(
    repo,
    doubtful.map(({ a, b }) => [a.unmerged, b.unmerged] as const),
    options,
  )
  const withoutBase = new Map(doubtful.map(({ number }, at) => [number, new Set(again[at]?.files)]))
  return merged.map((one, number) =>
    (one?.files ?? []).filter((file) => !isDoubtful(number, file) || withoutBase.get(number)?.has(file)),
  )
}

async function inBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += atOnce) {
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))))
  }
  return results
}
