import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findProject, findTask, throwNotFound } from '../find.ts'
import { hookProblems } from '../hook-problems.ts'
import { readHookRuns } from '../hook-records.ts'

type Names = 'plugins.list' | 'tasks.hook_runs' | 'projects.test_hook'

/** What runs at the moments of a task's life, and what came of it. */
export function createHookHandlers(parts: ApiParts): Handlers<Names> {
  const { engine, logs } = parts
  const { read } = parts.store
  return {
    'plugins.list': () => ({ items: [...engine.hooks.plugins] }),
    'tasks.hook_runs': async ({ task_id, limit }) => {
      findTask(read, task_id)
      // Asked before the logs are read: what ends meanwhile is in one of the two.
      const running = engine.hooks.running(task_id)
      const ended = await readHookRuns(logs, task_id, limit)
      const names = new Set(ended.map(({ log_name }) => log_name))
      return { items: [...running.filter(({ log_name }) => !names.has(log_name)), ...ended].slice(0, limit) }
    },
    'projects.test_hook': async ({ project_id, event, hook, task_id }, { signal }) => {
      const project = findProject(read, project_id)
      const issues = hookProblems(engine.plugins, hook, 'hook')
      if (hook.type === 'script' && hook.blocking && event !== 'before_work')
        issues.push({ path: 'hook.blocking', message: 'Only a hook at before_work can block.' })
      const [first] = issues
      if (first) throw new ApiError({ code: 'validation_failed', message: first.message, details: { issues } })
      const task = task_id === undefined ? null : findTask(read, task_id)
      if (task && task.project_id !== project_id) throwNotFound('task')
      const repos = read.repos.byProject(project_id)
      const repo = repos.find((one) => (task ? one.id === task.repo_id : one.is_primary)) ?? throwNotFound('repo')
      return await engine.hooks.test({ project, repo, task, event, hook }, signal)
    },
  }
}
