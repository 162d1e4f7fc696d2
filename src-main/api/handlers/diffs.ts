import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Diff } from '../../../src-shared/contract/workspaces.ts'
import {
  hasViewedContent,
  hasViewedFile,
  noMarks,
  planMarks,
  toMarks,
  type MarkableFile,
  type ViewedMarks,
} from '../../domain/review/viewed-marks.ts'
import { actorOf, type Principal } from '../../domain/access/principal.ts'
import type { BranchHunks, FileDiff } from '../../ports/diff-reader.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findTask, throwNotFound } from '../find.ts'
import { leaveOutViewed } from '../leave-out-viewed.ts'
import { readerId, userOf } from '../reader-id.ts'
import type { ViewedFileQueries } from '../../ports/workspace-queries.ts'

type Names =
  | 'tasks.diff'
  | 'tasks.chapters'
  | 'tasks.propose_chapters'
  | 'tasks.commits'
  | 'tasks.watch_diff'
  | 'tasks.mark_viewed'

/** Handlers for a task's changes and what its reader has viewed. */
export function createDiffHandlers(parts: ApiParts): Handlers<Names> {
  const { store, engine, places, diffWatches, chapters } = parts
  const { read } = store
  const hunks = keepHunks()
  /** Agents have no marks. */
  const marksOf = (task_id: TaskId, principal: Principal): ViewedMarks =>
    principal.kind === 'agent' ? noMarks : readMarks(read, task_id, readerId(principal))
  return {
    'tasks.diff': async (input, { principal, signal }) => {
      const { task_id, path = null, ignore_whitespace = false, since_attempt, since_commit, commit } = input
      const workspace = engine.worktrees.of(findTask(read, task_id))
      const nothing: Diff = { base: null, head: null, tree: null, files: [], patch: '', truncated: false }
      if (!workspace || workspace.base_commit === null) return nothing
      const { diffs } = places.of(task_id)
      return engine.worktrees.look(workspace, async (ref) => {
        if (input.unseen === true) {
          const diff = await diffs.diff(ref, 'branch', path, { signal })
          const { files } = await diffs.hunks(ref, { signal })
          const marks = marksOf(task_id, principal)
          const left = leaveOutViewed(diff, files, marks)
          return { ...left, files: left.files.map((file) => ({ ...file, viewed: false })) }
        }
        const since = read.reviews.byTask(task_id).find((one) => one.attempt_number === since_attempt)?.head
        const wishes = { ignore_whitespace, since: since ?? since_commit ?? null }
        const diff =
          commit === undefined
            ? await diffs.diff(ref, input.scope, path, { signal, ...wishes })
            : ((await diffs.commitDiff(ref, commit, path, { signal, ignore_whitespace })) ?? throwNotFound('commit'))
        const isBranch = input.scope === 'branch' && wishes.since === null && commit === undefined
        const hasMarks = diff.files.some(({ path: one }) => marksOf(task_id, principal).hunks.has(one))
        const known = isBranch ? `${task_id} ${diff.base ?? ''} ${diff.tree ?? ''}` : null
        const now = hasMarks ? await hunks(known, () => diffs.hunks(ref, { signal })) : []
        const byPath = new Map(now.map((file) => [file.path, file]))
        // Read last, so that files marked while git was busy count already.
        const marks = marksOf(task_id, principal)
        const isViewed = (file: FileDiff['files'][number]): boolean => {
          const found = byPath.get(file.path)
          const isSame = found !== undefined && found.blob === file.blob && found.new_mode === file.new_mode
          return isSame ? hasViewedFile(found, marks) : hasViewedContent(file, marks)
        }
        return { ...diff, files: diff.files.map((file) => ({ ...file, viewed: isViewed(file) })) }
      })
    },
    'tasks.chapters': ({ task_id }, { principal, signal }) =>
      chapters.read(findTask(read, task_id), () => marksOf(task_id, principal), { signal }),
    'tasks.propose_chapters': async ({ task_id, ...proposed }, { principal, signal }) => {
      const task = findTask(read, task_id)
      const refusal = await chapters.propose(task, { ...proposed, by: actorOf(principal) }, { signal })
      if (refusal) throw new ApiError(refusal)
      return await chapters.read(task, () => marksOf(task_id, principal), { signal })
    },
    'tasks.commits': async ({ task_id }, { signal }) => {
      const workspace = engine.worktrees.of(findTask(read, task_id))
      if (!workspace || workspace.base_commit === null) return { items: [] }
      const commits = await engine.worktrees.look(workspace, (ref) => places.of(task_id).diffs.commits(ref, { signal }))
      return { items: [...commits] }
    },
    'tasks.watch_diff': ({ task_id }) => diffWatches.extend(findTask(read, task_id)),
    'tasks.mark_viewed': createMarkHandler(parts),
  }
}

/** Creates the handler that marks files and hunks for their reader. */
function createMarkHandler({ store, feed, engine, places }: ApiParts): Handlers<Names>['tasks.mark_viewed'] {
  return async ({ task_id, files, hunks, viewed }, { principal, signal }) => {
    const reader = readerId(principal)
    const workspace = engine.worktrees.of(findTask(store.read, task_id))
    const now =
      !workspace || workspace.base_commit === null
        ? []
        : await engine.worktrees.look(workspace, async (ref) => {
            const found = await places.of(task_id).diffs.hunks(ref, { signal })
            return found.files
          })
    feed.commit((tx) => {
      const { project_id } = findTask(tx, task_id)
      const change = planMarks({ files, hunks, viewed }, now, readMarks(tx, task_id, reader))
      for (const file of change.put_files) tx.viewed_files.put(task_id, reader, file)
      for (const path of change.drop_files) tx.viewed_files.remove(task_id, reader, path)
      for (const id of change.drop_hunks) tx.viewed_files.removeHunk(task_id, reader, id)
      for (const hunk of change.put_hunks) tx.viewed_files.putHunk(task_id, reader, hunk)
      const told = { files: [...change.files], hunks: [...change.hunks], viewed }
      tx.emit('diff.viewed', { project_id, task_id, user_id: userOf(principal), ...told })
    })
    return null
  }
}

function readMarks(read: { readonly viewed_files: ViewedFileQueries }, task_id: TaskId, reader: string): ViewedMarks {
  return toMarks(read.viewed_files.of(task_id, reader), read.viewed_files.hunksOf(task_id, reader))
}

/** Diffs whose hunks are kept: a reader who marks files reads the same diff many times. */
const maxKept = 8

/** Keeps the ids of the hunks of the last diffs that were read. */
function keepHunks() {
  const kept = new Map<string, readonly MarkableFile[]>()
  return async (key: string | null, read: () => Promise<BranchHunks>): Promise<readonly MarkableFile[]> => {
    const known = key === null ? undefined : kept.get(key)
    if (known) return known
    const { tree, files } = await read()
    const found = files.map(({ path, blob, new_mode, hunks }) => ({
      path,
      blob,
      new_mode,
      hunks: hunks.map(({ id }) => ({ id })),
    }))
    // The work may have changed since the diff was read.
    if (key?.endsWith(` ${tree}`) === true) {
      kept.set(key, found)
      const [oldest] = kept.keys()
      if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
    }
    return found
  }
}
