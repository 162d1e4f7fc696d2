import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findProject, findTask, throwNotFound } from '../find.ts'
import { hookProblems } from '../hook-problems.ts'
import { HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Logs } from '../../ports/logs.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

/** Larger than the JSON of the two outputs, the command and the environment can be. */
const maxLogBytes = 2 * 1024 * 1024
/** Length of `2026-11-21T19-30-00-123Z.jsonl`. */
const timestampLength = 30

const Line = HookRun.omit({ log_name: true })

/** Reads the newest `limit` finished hook runs of a task from their logs, newest first. */
async function readHookRuns(logs: Logs, task_id: TaskId, limit: number): Promise<readonly HookRun[]> {
  const names = (await logs.list(task_id))
    .filter(({ kind, name }) => kind === 'hook' && name.endsWith('.jsonl'))
    .map(({ name }) => name)
    .sort((a, b) => (a.slice(-timestampLength) < b.slice(-timestampLength) ? 1 : -1))
    .slice(0, limit)
  const runs = await Promise.all(names.map((name) => readRuns(logs, task_id, name)))
  return runs.flat()
}

async function readRuns(logs: Logs, task_id: TaskId, name: string): Promise<readonly HookRun[]> {
  const slice = await logs.read(task_id, name, 0, maxLogBytes)
  if (!slice) return []
  const lines = Buffer.from(slice.data_base64, 'base64').toString('utf8').split('\n')
  return lines.flatMap((line) => {
    const parsed = parse(line)
    return parsed ? [{ log_name: name, ...parsed }] : []
  })
}

/** Parses a line; returns null for one that a power loss damaged. */
function parse(line: string): Omit<HookRun, 'log_name'> | null {
  return Line.safeParse(parseJson(line)).data ?? null
}

type Names = 'plugins.list' | 'tasks.hook_runs' | 'projects.test_hook'

/** Handlers for lifecycle hooks and their runs. */
export function createHookHandlers(parts: ApiParts): Handlers<Names> {
  const { engine, logs } = parts
  const { read } = parts.store
  return {
    'plugins.list': () => ({ items: [...engine.hooks.plugins] }),
    'tasks.hook_runs': async ({ task_id, limit }) => {
      findTask(read, task_id)
      // Read before the logs, so that a run that ends now is in one of the two.
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
