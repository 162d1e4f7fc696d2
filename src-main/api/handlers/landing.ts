import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findProject, findTask, throwNotFound, unwrap } from '../find.ts'

type Names = 'landing.list' | 'landing.remove' | 'landing.check'

/** Handlers for the branches on which tasks land, and who waits there. */
export function createLandingHandlers({ store, engine }: ApiParts): Handlers<Names> {
  const { read } = store
  const { landing, actions } = engine
  return {
    'landing.list': async ({ project_id }) => ({ items: [...(await landing.lanes(findProject(read, project_id)))] }),
    'landing.remove': async ({ project_id, task_id }) => {
      const task = findTask(read, task_id)
      if (task.project_id !== project_id) throwNotFound('task')
      if (await actions.leaveLane(task_id)) return null
      throw new ApiError({ code: 'not_landing', message: 'This task does not wait to land.' })
    },
    'landing.check': async ({ project_id, repo_id, branch }) => {
      const project = findProject(read, project_id)
      const repos = read.repos.byProject(project.id)
      const repo = repos.find((one) => (repo_id === undefined ? one.is_primary : one.id === repo_id))
      if (!repo) return throwNotFound('repo')
      return { lane: unwrap(await landing.check(project, repo, branch ?? repo.default_branch)) }
    },
  }
}
