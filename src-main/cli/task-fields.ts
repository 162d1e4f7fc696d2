import type { Command } from 'commander'
import type { Project } from '../../src-shared/contract/projects.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import type { TaskTemplate } from '../../src-shared/contract/task-templates.ts'
import { usageError } from './cli-error.ts'
import { collect, wholeNumber, type CommandContext } from './command-context.ts'
import { pick } from './pick.ts'
import { textOf } from './prompt.ts'

/** Options of a task's fields at its creation. */
export interface TaskFieldOptions {
  readonly description?: string
  readonly ci?: readonly string[]
  readonly reviewPrompt?: string
  readonly label?: readonly string[]
  readonly priority?: number
  readonly repo?: string
  readonly assign?: readonly string[]
}

type TaskFields = Pick<TaskTemplate, 'description' | 'review_config' | 'labels' | 'priority' | 'repo_id' | 'roles'>

export function addTaskFieldOptions(command: Command): Command {
  return command
    .option('--description <text>', 'what should change; - reads it from stdin')
    .option('--ci <command>', 'check that must pass (repeatable)', collect)
    .option('--review-prompt <text>', 'what an agent that reviews it is asked')
    .option('--label <label>', 'repeatable', collect)
    .option('--priority <number>', '0 (none) to 4 (urgent)', wholeNumber(0, 4))
    .option('--repo <repository>', 'ID or name; by default the project’s primary one')
    .option('--assign <role=who>', 'agent or member for a role, like reviewer=Claude (repeatable)', collect)
}

/** Reads the given options; leaves out the others. */
export async function readTaskFields(
  scene: CommandContext,
  project: Project,
  options: TaskFieldOptions,
): Promise<Partial<TaskFields>> {
  const { description, ci, reviewPrompt, label, priority, repo, assign } = options
  const repos = project.repos.map((one) => ({ ...one, title: one.name, isName: true }))
  return {
    ...(description !== undefined && { description: await textOf(description) }),
    ...((ci !== undefined || reviewPrompt !== undefined) && {
      review_config: {
        ...(ci !== undefined && { ci_steps: [...ci] }),
        ...(reviewPrompt !== undefined && { review_prompt: reviewPrompt }),
      },
    }),
    ...(label !== undefined && { labels: [...label] }),
    ...(priority !== undefined && { priority }),
    ...(repo !== undefined && { repo_id: pick('repository', repos, repo).id }),
    ...(assign !== undefined && { roles: await rolesFrom(scene, project, assign) }),
  }
}

async function rolesFrom(
  { client }: CommandContext,
  { id: project_id }: Project,
  assign: readonly string[],
): Promise<Record<string, Assignee>> {
  const [{ items: agents }, { items: members }] = await Promise.all([
    client.call('agents.list', {}),
    client.call('members.list', { project_id }),
  ])
  const people = [
    ...agents.map(({ id, name }) => ({ id, title: name, isName: true, assignee: { type: 'agent', id } as const })),
    ...members.map(({ user_id: id, handle }) => ({
      id,
      title: handle,
      isName: true,
      assignee: { type: 'user', id } as const,
    })),
  ]
  const pairs = assign.map((text) => {
    const at = text.indexOf('=')
    if (at < 1) throw usageError(`--assign wants ROLE=WHO, not ${JSON.stringify(text)}.`)
    return [text.slice(0, at), pick('agent or member', people, text.slice(at + 1)).assignee] as const
  })
  return Object.fromEntries(pairs)
}

/** Finds a project's template by ID or name. */
export async function findTemplate({ client }: CommandContext, { id }: Project, text: string): Promise<TaskTemplate> {
  const { items } = await client.call('task_templates.list', { project_id: id })
  const named = items.map((template) => ({ ...template, title: template.name, isName: true, template }))
  return pick('template', named, text).template
}
