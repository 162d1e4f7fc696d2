import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Rescue, RestoredRescue } from '../../src-shared/contract/rescues.ts'
import { workspaceLocked } from '../tasks/rules/claim-guard.ts'
import type { Ground } from '../core/ground.ts'
import type { FileDiff } from '../ports/diff-reader.ts'
import { withWorktreeLock } from './with-worktree-lock.ts'
import type { RescueStore } from '../ports/rescue-store.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import { repoPathsOf } from '../core/repo-paths.ts'
import { saveWorkspace } from './save-workspace.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { toSettings } from '../core/views.ts'
import { othersInWorkspace, workspaceOf, workspaceOwner } from '../core/workspace-of.ts'
import type { Worktrees } from './worktrees.ts'

/** Rescues older than this are deleted. */
const lifeMs = 30 * 24 * 3_600_000
const sweepEveryMs = 3_600_000

/** One rescue as a client names it within a project. */
interface RescueChoice {
  readonly project_id: ProjectId
  /** The task may be deleted. */
  readonly task_id: string
  readonly timestamp: string
}

/** Lists, shows, restores and deletes work that was saved before its removal. */
export interface Rescues {
  ofTask(task: TaskRecord, signal: AbortSignal): Promise<readonly Rescue[]>
  /** Lists the rescues in the project's repositories, of its own tasks and of deleted tasks of any project. */
  ofProject(project_id: ProjectId, signal: AbortSignal): Promise<readonly Rescue[]>
  /** Returns the changes in a rescue; with `file`, of that file alone. */
  diff(choice: RescueChoice, file: string | null, signal: AbortSignal): Promise<FileDiff | Refusal>
  restore(choice: RescueChoice, signal: AbortSignal): Promise<RestoredRescue | Refusal>
  /** Returns null once it is deleted. */
  remove(choice: RescueChoice, signal: AbortSignal): Promise<Refusal | null>
  /** Deletes rescues older than 30 days; does so at most once an hour, however often it is called. */
  sweep(signal: AbortSignal): Promise<void>
}

const none: Refusal = {
  code: 'not_found',
  message: "This snapshot doesn't exist. It was deleted, or its 30 days have passed.",
  details: { resource: 'rescue' },
}

type RescueGround = Ground & { readonly rescues: RescueStore }

export function createRescues(context: RescueGround, worktrees: Pick<Worktrees, 'exclusively'>): Rescues {
  const { read } = context.store
  const { rescues } = context
  let sweptAt = -Infinity
  const ofProject: Rescues['ofProject'] = async (project_id, signal) => {
    const found: Rescue[] = []
    const paths = read.repos.byProject(project_id).map((repo) => repo.path)
    for (const kept of await readEach(context, paths, (path) => rescues.rescues(path, null, { signal }))) {
      found.push(
        ...kept.filter((one) => (read.tasks.get(one.task_id as TaskId)?.project_id ?? project_id) === project_id),
      )
    }
    return found.sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
  }
  const find = async (choice: RescueChoice, signal: AbortSignal): Promise<Rescue | null> => {
    const { task_id, timestamp, project_id } = choice
    const task = read.tasks.get(task_id as TaskId)
    if (task && task.project_id !== project_id) return null
    const paths = task ? [...reposOf(context, task)] : read.repos.byProject(project_id).map((repo) => repo.path)
    const found = await readEach(context, paths, (path) => rescues.rescues(path, task_id, { signal }))
    return found.flat().find((rescue) => rescue.timestamp === timestamp) ?? null
  }
  return {
    ofTask: async (task, signal) =>
      (
        await readEach(context, [...reposOf(context, task)], (path) => rescues.rescues(path, task.id, { signal }))
      ).flat(),
    ofProject,
    diff: async (choice, file, signal) => {
      const rescue = await find(choice, signal)
      return rescue === null ? none : await rescues.rescueDiff(rescue, file, { signal })
    },
    restore: async (choice, signal) => {
      const rescue = await find(choice, signal)
      if (!rescue) return none
      const restore = async (into: Into) => (await restoreInto(context, choice, rescue, into, signal)) ?? none
      const task = read.tasks.get(choice.task_id as TaskId)
      if (!task) return await restore(noWorktree)
      return await worktrees.exclusively(task, () => intoWorktree(context, task, restore))
    },
    remove: async (choice, signal) => {
      const rescue = await find(choice, signal)
      if (rescue === null || !(await rescues.deleteRescue(rescue, { signal }))) return none
      emitDiscarded(context, rescue.repo_path, [rescue.ref])
      return null
    },
    sweep: async (signal) => {
      const now = context.clock.now()
      if (now - sweptAt < sweepEveryMs) return
      sweptAt = now
      for (const path of repoPathsOf(read)) {
        if (signal.aborted) return
        await expire(context, path, now - lifeMs, signal)
      }
    },
  }
}

/** Includes former repositories, because a task may have worked in another than it has now. */
function reposOf(context: Ground, task: TaskRecord): ReadonlySet<string> {
  const { read } = context.store
  const known = [read.workspaces.byTask(task.id)?.repo_path, read.repos.get(task.repo_id)?.path]
  return new Set(known.filter((path) => path !== undefined))
}

/** Reads each of the repositories; a missing one is skipped. */
async function readEach<T>(
  context: Ground,
  paths: readonly string[],
  look: (path: string) => Promise<T>,
): Promise<readonly T[]> {
  const answers: T[] = []
  const failures: WorkspaceError[] = []
  for (const path of paths) {
    try {
      answers.push(await look(path))
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error
      context.log.warn({ err: error, path }, 'the rescues of a repository could not be looked through')
      failures.push(error)
    }
  }
  if (answers.length === 0 && failures[0]) throw failures[0]
  return answers
}

type Into = { readonly path: string } | { readonly path: null; readonly why_not: 'no_worktree' | 'busy' }

const noWorktree: Into = { path: null, why_not: 'no_worktree' }
const busy: Into = { path: null, why_not: 'busy' }

/** Calls `work` with the task's worktree while holding its lock; refuses if it is missing or in use. */
async function intoWorktree(
  context: Ground,
  task: TaskRecord,
  restore: (into: Into) => Promise<RestoredRescue | Refusal>,
): Promise<RestoredRescue | Refusal> {
  const { read } = context.store
  const workspace = workspaceOf(read, task)
  const isThere =
    workspace !== null &&
    workspace.status !== 'cleaned' &&
    (await context.places.of(task.id).worktrees.exists(workspace.path))
  if (!isThere) return await restore(noWorktree)
  const running = [...read.executions.openOfTask(task.id), ...othersInWorkspace(read, task)]
  if (running.some((one) => one.agent_id !== null)) return await restore(busy)
  const { path } = workspace
  const restored = await withWorktreeLock(context, workspace.task_id, path, () => restore({ path }))
  if ('code' in restored && restored.code === workspaceLocked.code) return await restore(busy)
  emitWorkspace(context, task)
  return restored
}

/** Emits the workspace, so that clients reload it and its rescues. */
function emitWorkspace(context: Ground, task: TaskRecord): void {
  context.feed.commit((tx) => {
    const owner = workspaceOwner(tx, task)
    const current = tx.workspaces.byTask(owner.id)
    if (current) saveWorkspace(tx, owner, current)
  })
}

/** Emits to the project of the task; if that is deleted, to all projects with the repository. */
function emitDiscarded(context: Ground, repo_path: string, refs: readonly string[]): void {
  context.feed.commit((tx) => {
    const having = tx.projects.list().filter(({ id }) => tx.repos.byProject(id).some(({ path }) => path === repo_path))
    for (const ref of refs) {
      const task_id = ref.split('/').at(-2) ?? ''
      const taskProject = tx.tasks.get(task_id as TaskId)?.project_id
      for (const project_id of taskProject === undefined ? having.map(({ id }) => id) : [taskProject])
        tx.emit('rescue.given_up', { project_id, task_id, ref })
    }
  })
}

async function restoreInto(
  context: RescueGround,
  choice: RescueChoice,
  rescue: Rescue,
  into: Into,
  signal: AbortSignal,
): Promise<RestoredRescue | null> {
  const project = context.store.read.projects.get(choice.project_id)
  const prefix = project ? toSettings(project).branch_prefix : ''
  const branch = `${prefix}rescued-${choice.task_id.slice(-8)}-${choice.timestamp}`
  const why_not = into.path === null ? into.why_not : 'no_worktree'
  return await context.rescues.restoreRescue(rescue, { path: into.path, why_not, branch }, { signal })
}

async function expire(context: RescueGround, path: string, before: number, signal: AbortSignal): Promise<void> {
  try {
    const refs = await context.rescues.expireRescues(path, before, { signal })
    if (refs.length === 0) return
    context.log.info({ path, refs }, 'rescues older than 30 days were given up')
    emitDiscarded(context, path, refs)
  } catch (error) {
    if (!(error instanceof WorkspaceError) || signal.aborted) throw error
    context.log.warn({ err: error, path }, 'the rescues of a repository could not be looked through')
  }
}
