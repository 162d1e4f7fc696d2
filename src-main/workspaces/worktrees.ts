import { join } from 'node:path'
import { createKeyedLock } from '../platform/locks/keyed-lock.ts'
import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { WorkspaceId } from '../../src-shared/contract/ids.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import { branchName } from './rules/branch-name.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { Place } from '../ports/place.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { scriptEnvironment } from './rules/script-environment.ts'
import { assignPorts } from './port-ranges.ts'
import { saveWorkspace } from './save-workspace.ts'
import { scriptContainment } from '../core/script-containment.ts'
import { toSettings } from '../core/views.ts'
import { stackBase, type StackBase } from '../core/stack-of.ts'
import { othersInWorkspace, workspaceOf, workspaceOwner } from '../core/workspace-of.ts'

type EnsuredWorktree =
  | { readonly kind: 'ready'; readonly workspace: WorkspaceRecord }
  | { readonly kind: 'branch_gone' }
  | { readonly kind: 'failed'; readonly message: string }

export interface Worktrees {
  /**
   * Returns the record that a first claim creates, for an ordered subtask its parent's; the directory is created
   * later.
   */
  plan(tx: Tx, task: TaskRecord, project: ProjectRecord): WorkspaceRecord
  /**
   * Creates the worktree that the task works in, or reuses it. A worktree in which another task's agent runs stays as
   * it is; a parent's worktree is never reset. `processMarker` is called when set-up commands may run.
   */
  ensure(task: TaskRecord, signal: AbortSignal, processMarker?: () => string): Promise<EnsuredWorktree>
  /** Runs `work` while `ensure` can't change the task's worktree. */
  exclusively<T>(task: TaskRecord, work: () => Promise<T>): Promise<T>
  /** Returns the record of the worktree that a task works in: for an ordered subtask its parent's. */
  of(task: TaskRecord): WorkspaceRecord | null
  ref(workspace: WorkspaceRecord): Promise<BranchRef>
  /**
   * Reads from a worktree that may be removed at any moment: after an error, `look` runs again with the branch alone.
   */
  look<T>(workspace: WorkspaceRecord, look: (ref: BranchRef) => Promise<T>): Promise<T>
  /** Returns the `SVC_` variables of a task for a hook, a CI step or an agent. */
  environment(
    task: TaskRecord,
    event: string,
    more?: { previous_status?: string; agent_id?: string | null; execution_id?: string | null },
  ): Record<string, string>
}

export function createWorktrees(context: Ground): Worktrees {
  const { store, places } = context
  const busy = createKeyedLock()
  const exclusively: Worktrees['exclusively'] = (task, work) => busy.run(workspaceOwner(store.read, task).id, work)
  const environment: Worktrees['environment'] = (task, event, more = {}) => {
    const workspace = workspaceOf(store.read, task)
    const project = store.read.projects.get(task.project_id)
    return scriptEnvironment({
      event,
      task,
      previous_status: more.previous_status ?? task.status,
      project: { id: task.project_id, name: project?.name ?? '' },
      repo_path: workspace?.repo_path ?? store.read.repos.get(task.repo_id)?.path ?? '',
      worktree_path: workspace && workspace.status !== 'cleaned' ? workspace.path : '',
      port_base: workspace?.port_base ?? null,
      agent_id: more.agent_id ?? null,
      execution_id: more.execution_id ?? null,
    })
  }
  const ref: Worktrees['ref'] = async (workspace) => ({
    repo_path: workspace.repo_path,
    path: (await places.of(workspace.task_id).worktrees.exists(workspace.path)) ? workspace.path : null,
    branch: workspace.branch,
    base_branch: workspace.base_branch,
    base_commit: workspace.base_commit,
  })
  return {
    plan: (tx, task, project) => planWorkspace(context, tx, workspaceOwner(tx, task), project),
    environment,
    exclusively,
    of: (task) => workspaceOf(store.read, task),
    ref,
    look: async (workspace, look) => {
      const now = await ref(workspace)
      try {
        return await look(now)
      } catch (error) {
        const code = error instanceof WorkspaceError ? error.code : null
        // A folder without its `.git` file has work, which its branch alone would not show.
        const isUnlinked =
          code === 'outside_worktree' &&
          now.path !== null &&
          (await places.of(workspace.task_id).worktrees.exists(now.path))
        if (isUnlinked || code === 'repository_missing' || now.path === null) throw error
        if (await isWorktree(places.of(workspace.task_id), now.path)) throw error
        return await look({ ...now, path: null })
      }
    },
    ensure: (task, signal, processMarker) =>
      exclusively(task, async () => {
        const { read } = store
        const owner = workspaceOwner(read, task)
        const known = read.workspaces.byTask(owner.id)
        if (owner.id !== task.id && (!known || known.status === 'cleaned')) return parentHasNone
        if (known?.status === 'ready' && othersInWorkspace(read, task).some((one) => one.status === 'running')) {
          if (await places.of(owner.id).worktrees.exists(known.path)) return { kind: 'ready', workspace: known }
        }
        const ensured = await ensureOwn(
          context,
          owner,
          () => environment(owner, 'workspace_setup'),
          signal,
          processMarker,
        )
        if (ensured.kind !== 'branch_gone') return ensured
        if (owner.id !== task.id) return parentLost
        context.feed.commit((tx) => {
          const record = tx.workspaces.byTask(owner.id)
          if (record) tx.workspaces.delete(record.id)
        })
        return ensured
      }),
  }
}

const parentHasNone: EnsuredWorktree = {
  kind: 'failed',
  message: 'The parent task has no workspace now. Claim the parent, then run this task again.',
}
const parentLost: EnsuredWorktree = {
  kind: 'failed',
  message: "The parent's worktree and branch are gone. Run the parent again and reset its workspace first.",
}

function planWorkspace(context: Ground, tx: Tx, task: TaskRecord, project: ProjectRecord): WorkspaceRecord {
  const known = tx.workspaces.byTask(task.id)
  if (known && known.status !== 'cleaned') return known
  const repo = repoOf(tx, task)
  const base = baseOf(context, tx, task, project)
  const record: WorkspaceRecord = {
    id: known?.id ?? (context.newId() as WorkspaceId),
    task_id: task.id,
    status: 'creating',
    repo_path: repo.path,
    branch: known?.branch ?? branchName(toSettings(project).branch_prefix, task.title, task.id),
    path: join(context.places.of(task.id).workspaceRoot, task.project_id, task.id),
    runner_id: known?.runner_id ?? hereRunner,
    base_branch: known?.base_branch ?? base.base_branch,
    base_commit: known?.base_commit ?? null,
    stack: known ? known.stack : base.stack,
    port_base: null,
    cleanup_at: null,
    error: null,
    created_at: known?.created_at ?? tx.now(),
  }
  saveWorkspace(tx, task, record)
  return record
}

function baseOf(context: Ground, tx: Tx, task: TaskRecord, project: ProjectRecord): StackBase {
  return stackBase(tx, context.workflows.of(project.workflow_definition), task, repoOf(tx, task))
}

function renameUnmade(
  context: Ground,
  tx: Tx,
  task: TaskRecord,
  project: ProjectRecord,
  planned: WorkspaceRecord,
): WorkspaceRecord {
  const base = baseOf(context, tx, task, project)
  const branch = branchName(toSettings(project).branch_prefix, task.title, task.id)
  if (planned.branch === branch && planned.base_branch === base.base_branch) return planned
  const record = { ...planned, ...base, branch }
  saveWorkspace(tx, task, record)
  return record
}

async function ensureOwn(
  context: Ground,
  task: TaskRecord,
  env: () => Readonly<Record<string, string>>,
  signal: AbortSignal,
  processMarker?: () => string,
): Promise<EnsuredWorktree> {
  const { feed } = context
  const place = context.places.of(task.id)
  const project = context.store.read.projects.get(task.project_id)
  if (!project) throw new BugError(`Task ${task.id} has no project.`)
  const planned = feed.commit((tx) => planWorkspace(context, tx, task, project))
  // Until a worktree exists, branch and base follow the settings, so that a wrong setting can be corrected.
  const current =
    planned.base_commit === null && !(await place.worktrees.exists(planned.path))
      ? feed.commit((tx) => renameUnmade(context, tx, task, project, planned))
      : planned
  const record = await assignPorts(context, task, current)
  const settings = toSettings(project)
  const { setup_commands, copy_files, redaction_patterns } = settings
  try {
    const result = await place.worktrees.ensure(
      {
        repo_path: record.repo_path,
        task_id: record.task_id,
        path: record.path,
        branch: record.branch,
        base_branch: record.base_branch,
        ...(record.base_commit === null
          ? { expect: 'new' as const }
          : { expect: 'existing' as const, known_base: record.base_commit }),
        setup_commands,
        containment: scriptContainment(settings),
        ...(processMarker && setup_commands.length > 0 && { processMarker: processMarker() }),
        copy_files,
        env: env(),
      },
      { signal },
    )
    if (result.kind === 'branch_gone') return result
    const base_commit = record.base_commit ?? result.base_commit
    const workspace: WorkspaceRecord = { ...record, status: 'ready', base_commit, error: null, cleanup_at: null }
    if (record.status !== 'ready' || record.base_commit !== base_commit) {
      feed.commit((tx) => {
        saveWorkspace(tx, task, workspace)
      })
    }
    return { kind: 'ready', workspace }
  } catch (error) {
    if (!(error instanceof WorkspaceError) || signal.aborted) throw error
    const message = context.redactor(redaction_patterns)(error.message)
    feed.commit((tx) => {
      saveWorkspace(tx, task, { ...record, status: 'error', error: message })
    })
    return { kind: 'failed', message }
  }
}

function repoOf(q: Queries, task: TaskRecord) {
  const repo = q.repos.get(task.repo_id)
  if (!repo) throw new BugError(`Task ${task.id} has no repository.`)
  return repo
}

async function isWorktree({ worktrees }: Place, path: string): Promise<boolean> {
  try {
    await worktrees.head(path, { signal: AbortSignal.timeout(10_000) })
    return true
  } catch (error) {
    if (error instanceof WorkspaceError) return false
    throw error
  }
}
