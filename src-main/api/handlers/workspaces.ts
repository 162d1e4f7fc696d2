import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { OperationRequest } from '../../../src-shared/contract/operations.ts'
import type { Diff } from '../../../src-shared/contract/workspaces.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { unwrap, findProject, findTask, throwNotFound } from '../find.ts'
import { newTask } from '../new-task.ts'
import { workspaceView } from '../workspace-view.ts'

type Names =
  | 'rescues.of_task'
  | 'rescues.of_project'
  | 'rescues.diff'
  | 'rescues.diff_in_project'
  | 'rescues.restore'
  | 'rescues.restore_in_project'
  | 'rescues.delete'
  | 'rescues.delete_in_project'
  | 'tasks.workspace_size'
  | 'tasks.clean_up_workspace'
  | 'orphans.list'
  | 'orphans.remove'
  | 'orphans.adopt'

/** Handlers for worktrees, snapshots and folders without a task. */
export function createWorkspaceHandlers(parts: ApiParts): Handlers<Names> {
  const { read } = parts.store
  const { rescues, orphans, cleanup, views } = parts.engine
  const ofTask = ({ task_id, timestamp }: OperationRequest<'rescues.restore'>) => ({
    project_id: findTask(read, task_id).project_id,
    task_id,
    timestamp,
  })
  const inProject = ({ project_id, of_task, timestamp }: OperationRequest<'rescues.restore_in_project'>) => ({
    project_id,
    task_id: of_task,
    timestamp,
  })
  const remove = async (choice: ReturnType<typeof inProject>, signal: AbortSignal): Promise<null> => {
    const refusal = await rescues.remove(choice, signal)
    if (refusal) unwrap(refusal)
    return null
  }
  const diff = async (choice: ReturnType<typeof inProject>, path: string | undefined, signal: AbortSignal) => {
    const found = unwrap(await rescues.diff(choice, path ?? null, signal))
    return { ...found, files: found.files.map((file) => ({ ...file, viewed: false })) } satisfies Diff
  }
  return {
    'rescues.of_task': async ({ task_id }, { signal }) => ({
      items: [...(await rescues.ofTask(findTask(read, task_id), signal))],
    }),
    'rescues.of_project': async ({ project_id }, { signal }) => ({
      items: [...(await rescues.ofProject(project_id, signal))],
    }),
    'rescues.diff': (input, { signal }) => diff(ofTask(input), input.path, signal),
    'rescues.diff_in_project': (input, { signal }) => diff(inProject(input), input.path, signal),
    'rescues.restore': async (input, { signal }) => unwrap(await rescues.restore(ofTask(input), signal)),
    'rescues.restore_in_project': async (input, { signal }) => unwrap(await rescues.restore(inProject(input), signal)),
    'rescues.delete': (input, { signal }) => remove(ofTask(input), signal),
    'rescues.delete_in_project': (input, { signal }) => remove(inProject(input), signal),
    'tasks.workspace_size': async ({ task_id }, { signal }) => {
      const workspace = parts.engine.worktrees.of(findTask(read, task_id))
      return (
        (workspace && (await parts.places.of(workspace.task_id).worktrees.size(workspace.path, { signal }))) ??
        throwNotFound('workspace')
      )
    },
    'tasks.clean_up_workspace': async ({ task_id }, { signal }) =>
      workspaceView(parts, unwrap(await cleanup.byHand(findTask(read, task_id), signal)), signal),
    'orphans.list': async (_input, { signal }) => ({ items: [...(await orphans.list(signal))] }),
    'orphans.remove': async ({ path }, { signal }) => unwrap(await orphans.remove(path, signal)),
    'orphans.adopt': async ({ path, project_id, title }, { signal }) => {
      const found = unwrap(await orphans.inspect(path, project_id, signal))
      const project = findProject(read, project_id)
      const { default_review_config } = views.settings(project)
      const makeTask = () =>
        newTask(parts, project, {
          id: parts.newId() as TaskId,
          title: title ?? titleOf(found.branch),
          review_config: default_review_config,
          repo_id: found.repo.id,
        })
      return views.task(unwrap(orphans.adopt(found, makeTask)))
    },
  }
}

/** Returns a title from a branch name: `svc/fix-the-login-1a2b3c4d` gives "fix the login". */
function titleOf(branch: string): string {
  const words = branch
    .slice(branch.lastIndexOf('/') + 1)
    .replace(/-[0-9a-f]{8}$/, '')
    .replaceAll(/[-_]+/g, ' ')
    .trim()
  return (words === '' ? branch : `${words.charAt(0).toUpperCase()}${words.slice(1)}`).slice(0, 500)
}
