import type { Agent, Project } from '../../src-shared/contract/projects.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { hereRunner, type Runner } from '../../src-shared/contract/runners.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { CliError, usageError } from './cli-error.ts'
import { isWholeId, listed, matching, pick, type Named } from './pick.ts'
import type { CommandContext } from './command-context.ts'
import { real, repositoriesOf } from './this-folder.ts'

const named = <T extends { readonly id: string; readonly name: string }>(item: T) =>
  ({ ...item, title: item.name, isName: true }) satisfies Named

const titled = (task: Task) => ({ ...task, isName: false }) satisfies Named

/** Finds a project by ID, key or name; without a text, that of the execution or the folder, else the only one. */
export async function findProject(scene: CommandContext, text: string | undefined): Promise<Project> {
  const { items } = await scene.client.call('projects.list', {})
  const projects = items.map((project) => ({ ...named(project), ref: project.key }))
  if (text !== undefined) return pick('project', projects, text)
  const usual = usualProject(scene, items)
  if (usual) return usual
  const [only, ...others] = items
  if (only && others.length === 0) return only
  if (only) throw usageError(`Say which project with --project: ${listed(projects)}. Or go to its folder.`)
  throw usageError('No projects yet. Add one with `svc project add <folder>`.')
}

function usualProject({ env, cwd }: CommandContext, projects: readonly Project[]): Project | undefined {
  const ownProject = projects.find(({ id }) => id === env['SVC_PROJECT_ID'])
  if (ownProject) return ownProject
  const folders = new Set(repositoriesOf(cwd))
  return projects.find(({ repos }) => repos.some(({ path }) => folders.has(real(path))))
}

/** Finds an agent by ID or name. */
export async function findAgent({ client }: CommandContext, text: string): Promise<Agent> {
  const { items } = await client.call('agents.list', {})
  return pick('agent', items.map(named), text)
}

/** Finds a runner by ID or name. */
export async function findRunner({ client }: CommandContext, text: string): Promise<Runner> {
  const { items } = await client.call('runners.list', {})
  return pick('runner', items.map(named), text)
}

/** Returns a runner that is not this machine; null for this one, and for one that is gone. */
export async function runnerOf({ client }: CommandContext, runner_id: RunnerId): Promise<Runner | null> {
  if (runner_id === hereRunner) return null
  const { items } = await client.call('runners.list', {})
  return items.find(({ id }) => id === runner_id) ?? null
}

/**
 * Finds a task by ID, by ref (`SHO-42`), or by the beginning or end of its ID among all tasks that the caller sees.
 * If several match, prefers the current project's.
 */
export async function findTask(scene: CommandContext, text: string): Promise<Task> {
  if (isWholeId(text)) return scene.client.call('tasks.get', { task_id: text })
  const { items: projects } = await scene.client.call('projects.list', {})
  const found = matching((await tasksWithId(scene, projects, text)).map(titled), text)
  const usual = usualProject(scene, projects)
  const inProject = found.filter(({ project_id }) => project_id === usual?.id)
  if (found.length > 0) return pick('task', inProject.length === 1 ? inProject : found, text)
  throw new CliError('not_found', `No task ${JSON.stringify(text)}. \`svc task list\` lists the tasks.`)
}

/**
 * Returns the tasks, also archived ones, that the service finds by ref or part of the ID: one short request per
 * project.
 */
async function tasksWithId({ client }: CommandContext, projects: readonly Project[], text: string): Promise<Task[]> {
  if (!/^([0-9a-f-]+|[a-z]{2,5}-\d+)$/i.test(text)) return []
  const pages = await Promise.all(
    projects.map(({ id }) => client.call('tasks.list', { project_id: id, q: `id:${text}`, include_archived: true })),
  )
  return pages.flatMap(({ items }) => items)
}

/** Returns all tasks of a project, page by page. */
export async function allTasks(
  { client }: CommandContext,
  project_id: string,
  include_archived: boolean,
  filter: { readonly status?: string; readonly q?: string; readonly label?: string; readonly assignee?: string } = {},
): Promise<Task[]> {
  const tasks: Task[] = []
  let cursor: string | null = null
  do {
    const at: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await client.call('tasks.list', { project_id, include_archived, limit: 200, ...filter, ...at })
    tasks.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null)
  return tasks
}
