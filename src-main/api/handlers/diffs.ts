import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Diff, ViewedContent } from '../../../src-shared/contract/workspaces.ts'
import type { FileChange } from '../../ports/diff-reader.ts'
import { actorOf, type Principal } from '../../domain/access/principal.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findTask, throwNotFound } from '../find.ts'
import { readerId, userOf } from '../reader-id.ts'

type Names =
  | 'tasks.diff'
  | 'tasks.chapters'
  | 'tasks.propose_chapters'
  | 'tasks.commits'
  | 'tasks.watch_diff'
  | 'tasks.mark_viewed'

/** Handlers for a task's changes and what its reader has viewed. */
export function createDiffHandlers({ store, feed, engine, places, diffWatches, chapters }: ApiParts): Handlers<Names> {
  const { read } = store
  /** Agents have no marks. */
  const marksOf = (task_id: TaskId, principal: Principal): ReadonlyMap<string, ViewedContent> => {
    const marked = principal.kind === 'agent' ? [] : read.viewed_files.of(task_id, readerId(principal))
    return new Map(marked.map((mark) => [mark.path, mark]))
  }
  return {
    'tasks.diff': async (input, { principal, signal }) => {
      const { task_id, scope, path = null, ignore_whitespace = false, since_attempt, since_commit, commit } = input
      const workspace = engine.worktrees.of(findTask(read, task_id))
      const nothing: Diff = { base: null, head: null, tree: null, files: [], patch: '', truncated: false }
      if (!workspace || workspace.base_commit === null) return nothing
      const { diffs } = places.of(task_id)
      return engine.worktrees.look(workspace, async (ref) => {
        const since = read.reviews.byTask(task_id).find((one) => one.attempt_number === since_attempt)?.head
        const wishes = { ignore_whitespace, since: since ?? since_commit ?? null }
        const diff =
          commit === undefined
            ? await diffs.diff(ref, scope, path, { signal, ...wishes })
            : ((await diffs.commitDiff(ref, commit, path, { signal, ignore_whitespace })) ?? throwNotFound('commit'))
        // Read last, so that files marked while git was busy count already.
        const marks = marksOf(task_id, principal)
        const files = diff.files.map((file) => ({ ...file, viewed: isViewed(file, marks) }))
        return { ...diff, files }
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
    'tasks.mark_viewed': ({ task_id, files, viewed }, { principal }) => {
      const reader = readerId(principal)
      feed.commit((tx) => {
        const { project_id } = findTask(tx, task_id)
        for (const file of files) {
          if (viewed) tx.viewed_files.put(task_id, reader, file)
          else tx.viewed_files.remove(task_id, reader, file.path)
        }
        tx.emit('diff.viewed', { project_id, task_id, user_id: userOf(principal), files, viewed })
      })
      return null
    },
  }
}

function isViewed({ path, blob, new_mode }: FileChange, marks: ReadonlyMap<string, ViewedContent>): boolean {
  const mark = marks.get(path)
  return mark !== undefined && mark.blob === blob && mark.new_mode === new_mode
}
