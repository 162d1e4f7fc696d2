import type { Chapters } from '../../../src-shared/contract/chapters.ts'
import type { BranchCommit, Diff, FolderSize, Workspace } from '../../../src-shared/contract/workspaces.ts'
import type { TaskMove, TransitionEntry } from '../../../src-shared/contract/tasks.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { bytesOf } from '../base/bytes-of.ts'
import { useClient } from '../base/client.ts'
import { useQuery, useTaskInvalidation } from '../base/query.ts'
import { useReviews } from './reviews.ts'
import { useTasks } from '../tasks/tasks.ts'

const sliceBytes = 1_048_576

/** Requests of the task panel for data that is too large or too rarely needed for a store. */
export function useTaskDetails() {
  const client = useClient()

  return {
    /** Returns the changes, by default of the whole branch, including uncommitted ones; null before the first claim. */
    diff: (taskId: string, wishes: DiffQuery): Promise<Diff | null> =>
      orNull(client.call('tasks.diff', { task_id: taskId, ...wishes })),
    /** Returns the whole branch's changes as chapters. */
    chapters: (taskId: string): Promise<Chapters> => client.call('tasks.chapters', { task_id: taskId }),
    /** Returns the branch's commits, newest first. */
    commits: async (taskId: string): Promise<readonly BranchCommit[]> =>
      (await client.call('tasks.commits', { task_id: taskId })).items,
    /** Returns one file's patch, however large. */
    fileDiff: (taskId: string, path: string, wishes: DiffQuery): Promise<Diff> =>
      client.call('tasks.diff', { task_id: taskId, path, ...wishes }),
    /** Subscribes to changes of the worktree's files for one minute. */
    watchDiff: (taskId: string) => client.call('tasks.watch_diff', { task_id: taskId }),
    /** Returns the task's workspace; null before the first claim. */
    workspace: (taskId: string): Promise<Workspace | null> =>
      orNull(client.call('tasks.workspace', { task_id: taskId })),
    /** Returns the worktree's size; null without a worktree. */
    workspaceSize: (taskId: string): Promise<FolderSize | null> =>
      orNull(client.call('tasks.workspace_size', { task_id: taskId })),
    /** Removes the worktree of a finished task now. */
    cleanUpWorkspace: (taskId: string) => client.call('tasks.clean_up_workspace', { task_id: taskId }),
    /** Returns the task's transitions, oldest first. */
    transitions: async (taskId: string): Promise<readonly TransitionEntry[]> =>
      (await client.call('tasks.transitions', { task_id: taskId })).items,
    /** Reads a log from `offset` to its current end. */
    readLog: async (taskId: string, name: string, offset: number): Promise<LogPiece> => {
      const decoder = new TextDecoder()
      let text = ''
      let at = offset
      for (;;) {
        const slice = await client.call('tasks.read_log', { task_id: taskId, name, offset: at, limit: sliceBytes })
        text += decoder.decode(bytesOf(slice.data_base64), { stream: true })
        const grew = slice.next_offset > at
        at = slice.next_offset
        if (slice.complete || !grew) return { text, next_offset: at, complete: slice.complete }
      }
    },
  }
}

/** Returns the values that a task's moves depend on, for the key of a query. */
export function useMovesKey(): (taskId: string) => readonly unknown[] {
  const tasks = useTasks()
  const reviews = useReviews()
  return (taskId) => {
    const task = tasks.byId.get(taskId)
    const parts = [task?.version, task?.status, task?.entry_barrier, task?.active_execution_id]
    return [taskId, ...parts, reviews.byTask(taskId)[0]?.status]
  }
}

/** Queries of a task's moves and workspace, reloaded when they may have changed. */
export function useTaskQueries(taskId: () => string) {
  const tasks = useTasks()
  const details = useTaskDetails()
  const news = useTaskInvalidation()
  const movesKey = useMovesKey()
  return {
    moves: useQuery<readonly TaskMove[]>(
      () => tasks.moves(taskId()),
      () => ['moves', ...movesKey(taskId())],
    ),
    workspace: useQuery(
      () => details.workspace(taskId()),
      () => ['workspace', ...movesKey(taskId()), news.changesOf(taskId(), 'workspace')],
    ),
  }
}

/** The range of a diff, and its options. */
export type DiffQuery = Pick<
  OperationInput<'tasks.diff'>,
  'scope' | 'since_attempt' | 'since_commit' | 'commit' | 'ignore_whitespace'
>

export interface LogPiece {
  readonly text: string
  readonly next_offset: number
  readonly complete: boolean
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return null
    throw error
  }
}
