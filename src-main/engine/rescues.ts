import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Rescue, RestoredRescue } from '../../src-shared/contract/rescues.ts'
import type { EngineContext } from './context.ts'
import { WorkspaceError } from './workspace-port.ts'
import { saveWorkspace } from './save-workspace.ts'
import type { TaskRecord, WorkspaceRecord } from './store-port.ts'
import { toSettings } from './views.ts'
import { othersInWorkspace, workspaceOf, workspaceOwner } from './workspace-of.ts'
import type { Worktrees } from './worktrees.ts'

/** Kept work is given up when it is older than this. */
const lifeMs = 30 * 24 * 3_600_000
const sweepEveryMs = 3_600_000

/** One rescue, as a person names it within a project. */
export interface RescueChoice {
  readonly project_id: ProjectId
  /** Of a task that may be deleted. */
  readonly task_id: string
  readonly timestamp: string
}

/** What was kept before something was thrown away: shown, brought back, given up. */
export interface Rescues {
  ofTask(task: TaskRecord, signal: AbortSignal): Promise<readonly Rescue[]>
  /** Of the project's repositories: those of its tasks, and of tasks that are deleted, whosever they were. */
  ofProject(project_id: ProjectId, signal: AbortSignal): Promise<readonly Rescue[]>
  restore(choice: RescueChoice, signal: AbortSignal): Promise<RestoredRescue | Refusal>
  /** Null when it is gone now. */
  remove(choice: RescueChoice, signal: AbortSignal): Promise<Refusal | null>
  /** Gives up what is older than 30 days; looks once an hour, however often it is called. */
  sweep(signal: AbortSignal): Promise<void>
}

const none: Refusal = {
  code: 'not_found',
  message: 'There is no such rescue. It may have been given up, or 30 days may have passed.',
  details: { resource: 'rescue' },
}

export function createRescues(context: EngineContext, worktrees: Pick<Worktrees, 'exclusively'>): Rescues {
  const { read } = context.store
  const { workspaces } = context
  let sweptAt = -Infinity
  const ofProject: Rescues['ofProject'] = async (project_id, signal) => {
    const found: Rescue[] = []
    for (const { path } of read.repos.byProject(project_id)) {
      const all = await workspaces.rescues(path, null, { signal })
      found.push(
        ...all.filter((one) => (read.tasks.get(one.task_id as TaskId)?.project_id ?? project_id) === project_id),
      )
    }
    return found.sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
  }
  const find = async (choice: RescueChoice, signal: AbortSignal): Promise<Rescue | null> => {
    const { task_id, timestamp, project_id } = choice
    const task = read.tasks.get(task_id as TaskId)
    if (task && task.project_id !== project_id) return null
    for (const path of task ? reposOf(context, task) : read.repos.byProject(project_id).map((repo) => repo.path)) {
      const all = await workspaces.rescues(path, task_id, { signal })
      const one = all.find((rescue) => rescue.timestamp === timestamp)
      if (one) return one
    }
    return null
  }
  return {
    ofTask: async (task, signal) => {
      const found: Rescue[] = []
      for (const path of reposOf(context, task)) found.push(...(await workspaces.rescues(path, task.id, { signal })))
      return found
    },
    ofProject,
    restore: async (choice, signal) => {
      const rescue = await find(choice, signal)
      if (!rescue) return none
      const task = read.tasks.get(choice.task_id as TaskId)
      if (!task) return (await restoreInto(context, choice, rescue, null, signal)) ?? none
      return await worktrees.exclusively(task, async () => {
        const workspace = workspaceOf(read, task)
        return (
          (await withLock(context, task, workspace, (path) => restoreInto(context, choice, rescue, path, signal))) ??
          none
        )
      })
    },
    remove: async (choice, signal) => {
      const rescue = await find(choice, signal)
      return rescue !== null && (await workspaces.deleteRescue(rescue, { signal })) ? null : none
    },
    sweep: async (signal) => {
      const now = context.clock.now()
      if (now - sweptAt < sweepEveryMs) return
      sweptAt = now
      const paths = new Set(read.projects.list().flatMap(({ id }) => read.repos.byProject(id).map((repo) => repo.path)))
      for (const path of paths) {
        if (signal.aborted) return
        await expire(context, path, now - lifeMs, signal)
      }
    },
  }
}

/** A task may have worked in another repository than the one it is in now. */
function reposOf(context: EngineContext, task: TaskRecord): ReadonlySet<string> {
  const { read } = context.store
  const known = [read.workspaces.byTask(task.id)?.repo_path, read.repos.get(task.repo_id)?.path]
  return new Set(known.filter((path) => path !== undefined))
}

type Into = { readonly path: string } | { readonly path: null; readonly why_not: 'no_worktree' | 'busy' }

/** Hands over the task's worktree if it is there and nobody is at work in it, and holds its lock meanwhile. */
async function withLock<T>(
  context: EngineContext,
  task: TaskRecord,
  workspace: WorkspaceRecord | null,
  work: (into: Into) => Promise<T>,
): Promise<T> {
  const { read } = context.store
  const isThere =
    workspace !== null && workspace.status !== 'cleaned' && (await context.workspaces.exists(workspace.path))
  if (!isThere) return await work({ path: null, why_not: 'no_worktree' })
  const isBusy = [...read.executions.openOfTask(task.id), ...othersInWorkspace(read, task)].some(
    (one) => one.agent_id !== null,
  )
  if (isBusy) return await work({ path: null, why_not: 'busy' })
  const { path } = workspace
  const execution_id = context.newId() as ExecutionId
  const holder = await context.workspaces.lock(path, { execution_id, pid: null })
  if (holder) return await work({ path: null, why_not: 'busy' })
  try {
    const result = await work({ path })
    context.feed.commit((tx) => {
      const current = tx.workspaces.byTask(workspace.task_id)
      if (current) saveWorkspace(tx, workspaceOwner(tx, task), current)
    })
    return result
  } finally {
    await context.workspaces.unlock(path, execution_id)
  }
}

async function restoreInto(
  context: EngineContext,
  choice: RescueChoice,
  rescue: Rescue,
  into: Into | null,
  signal: AbortSignal,
): Promise<RestoredRescue | null> {
  const project = context.store.read.projects.get(choice.project_id)
  const prefix = project ? toSettings(project).branch_prefix : ''
  const branch = `${prefix}rescued-${choice.task_id.slice(-8)}-${choice.timestamp}`
  const place = into ?? { path: null, why_not: 'no_worktree' as const }
  const { path } = place
  const why_not = path === null ? place.why_not : 'no_worktree'
  return await context.workspaces.restoreRescue(rescue, { path, why_not, branch }, { signal })
}

async function expire(context: EngineContext, path: string, before: number, signal: AbortSignal): Promise<void> {
  try {
    const refs = await context.workspaces.expireRescues(path, before, { signal })
    if (refs.length > 0) context.log.info({ path, refs }, 'rescues older than 30 days were given up')
  } catch (error) {
    if (!(error instanceof WorkspaceError) || signal.aborted) throw error
    context.log.warn({ err: error, path }, 'the rescues of a repository could not be looked through')
  }
}
