import { basename, resolve } from 'node:path'
import type { Command } from 'commander'
import type { ContainmentLevel } from '../../../src-shared/contract/containment.ts'
import type { Project } from '../../../src-shared/contract/projects.ts'
import {
  addAllowOptions,
  allowed,
  containedText,
  levelArgument,
  reportMachine,
  type AllowOptions,
} from '../containment-options.ts'
import { findProject } from '../find.ts'
import { paint } from '../output.ts'
import { shortId } from '../pick.ts'
import { addClientCommand, addGroup, runCommand, type CommonOptions, type CommandContext } from '../command-context.ts'
import { formatTable } from '../table.ts'
import { repositoriesOf } from '../this-folder.ts'

interface AddOptions extends CommonOptions {
  readonly name?: string
  readonly branch?: string
  readonly workflow?: string
}

/** Adds `svc project …`. */
export function addProject(program: Command): void {
  const project = addGroup(program, 'project', 'add, list, pause and resume projects')
  addClientCommand(project, {
    usage: 'add [folder]',
    summary: 'add a project from a git repository (default: the current one)',
    examples: ['svc project add', 'svc project add ~/code/shop --name Shop --branch develop'],
  })
    .option('--name <name>', 'the folder’s name without it')
    .option('--branch <branch>', 'base branch of tasks')
    .option('--workflow <template>', 'workflow template to start from')
    .action((folder: string | undefined, options: AddOptions) =>
      runCommand(options, (scene) => add(scene, folder, options)),
    )
  addClientCommand(project, {
    usage: 'list',
    summary: 'list projects',
    examples: ['svc project list', "svc project list --json | jq -r '.items[].name'"],
  }).action((options: CommonOptions) => runCommand(options, list))
  addAllowOptions(
    addClientCommand(project, {
      usage: 'contain',
      summary: 'contain a project’s checks, hooks and setup commands by the system, or let them out',
      examples: ['svc project contain auto', 'svc project contain worktree Shop --allow-write ~/out'],
    })
      .addArgument(levelArgument())
      .argument('[project]'),
  ).action((level: ContainmentLevel, text: string | undefined, options: CommonOptions & AllowOptions) =>
    runCommand(options, (scene) => contain(scene, { level, text }, options)),
  )
  for (const [verb, summary] of [
    ['pause', 'stop agents from starting tasks; people still can'],
    ['resume', 'let agents start tasks again'],
  ] as const) {
    addClientCommand(project, {
      usage: `${verb} [project]`,
      summary: `${summary} (by default of the folder’s project)`,
      examples: [`svc project ${verb}`, `svc project ${verb} Shop`],
    }).action((text: string | undefined, options: CommonOptions) =>
      runCommand(options, (scene) => setPaused(scene, text, verb === 'pause')),
    )
  }
}

async function add(
  { client, out, cwd }: CommandContext,
  folder: string | undefined,
  options: AddOptions,
): Promise<void> {
  const repo_path = folder === undefined ? (repositoriesOf(cwd)[0] ?? cwd) : resolve(cwd, folder)
  const project = await client.call('projects.create', {
    name: options.name ?? basename(repo_path),
    repo_path,
    ...(options.branch !== undefined && { default_branch: options.branch }),
    ...(options.workflow !== undefined && { workflow_template: options.workflow }),
  })
  await out.answer(project, () => `${shortId(project.id)}  Added project ${project.name}.`)
}

async function list({ client, out }: CommandContext): Promise<void> {
  const answer = await client.call('projects.list', {})
  await out.answer(answer, () =>
    answer.items.length === 0
      ? 'No projects yet. Add one with `svc project add <folder>`.'
      : formatTable(
          ['ID', 'KEY', 'NAME', 'BRANCH', 'REPOSITORY'],
          answer.items.map((item) => rowOf(item, answer.items)),
        ),
  )
}

function rowOf({ id, key, name, paused_at, repos }: Project, shown: readonly Project[]): string[] {
  const primary = repos.find(({ is_primary }) => is_primary)
  return [
    shortId(id, shown),
    key,
    paused_at === null ? name : `${name} (paused)`,
    primary?.default_branch ?? '',
    primary?.path ?? '',
  ]
}

async function contain(
  scene: CommandContext,
  { level, text }: { readonly level: ContainmentLevel; readonly text: string | undefined },
  options: AllowOptions,
): Promise<void> {
  const { client, out } = scene
  const { id: project_id, name } = await findProject(scene, text)
  const before = await client.call('projects.get_settings', { project_id })
  const change = { project_id, ci_containment: level, ...(await allowed(scene, options, { before, project: text })) }
  const settings = await client.call('projects.update_settings', change)
  await out.answer(settings, () => containedText(`The scripts of ${name} are`, level))
  await reportMachine(scene, level)
}

async function setPaused(scene: CommandContext, text: string | undefined, pause: boolean): Promise<void> {
  const { id, paused_at: before } = await findProject(scene, text)
  const paused_at = pause ? (before ?? new Date().toISOString()) : null
  const project = await scene.client.call('projects.update', { project_id: id, paused_at })
  await scene.out.answer(project, () => `${project.name} is ${pause ? paint('yellow', 'paused') : 'not paused'}.`)
}
