import type { Command } from 'commander'
import type { TaskTemplate } from '../../../src-shared/contract/task-templates.ts'
import { addClientCommand, addGroup, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findProject, findTask } from '../find.ts'
import { plain } from '../output.ts'
import { shortId } from '../pick.ts'
import { formatFields, formatTable } from '../table.ts'
import { addTaskFieldOptions, findTemplate, readTaskFields, type TaskFieldOptions } from '../task-fields.ts'

interface ProjectOptions extends CommonOptions {
  readonly project?: string
}
interface WriteOptions extends ProjectOptions, TaskFieldOptions {
  readonly title?: string
}
interface CreateOptions extends WriteOptions {
  readonly from?: string
}
interface EditOptions extends WriteOptions {
  readonly name?: string
}

const inProject = ['--project <project>', 'ID or name; by default that of the folder you are in'] as const
const withTitle = ['--title <text>', 'what the title of a new task begins with'] as const

/** Adds `svc template …`. */
export function addTemplate(program: Command): void {
  const template = addGroup(program, 'template', 'keep starting points for new tasks')
  addClientCommand(template, {
    usage: 'list',
    summary: 'list the task templates of a project',
    examples: ['svc template list', "svc template list --json | jq -r '.items[].name'"],
  })
    .option(...inProject)
    .action((options: ProjectOptions) => runCommand(options, (scene) => list(scene, options)))
  addClientCommand(template, {
    usage: 'show <template>',
    summary: 'show a task template',
    examples: ['svc template show Bug'],
  })
    .option(...inProject)
    .action((name: string, options: ProjectOptions) => runCommand(options, (scene) => show(scene, name, options)))
  addTaskFieldOptions(
    addClientCommand(template, {
      usage: 'create <name>',
      summary: 'save a task template',
      examples: [
        'svc template create Bug --title "Fix: " --label bug --priority 3 --ci "npm test" --assign reviewer=Claude',
        'svc template create "Update libraries" --from SHO-42',
      ],
    })
      .option(...inProject)
      .option('--from <task>', 'task to copy; other options replace what it has')
      .option(...withTitle),
  ).action((name: string, options: CreateOptions) => runCommand(options, (scene) => create(scene, name, options)))
  addTaskFieldOptions(
    addClientCommand(template, {
      usage: 'edit <template>',
      summary: 'rename or edit a task template',
      examples: ['svc template edit Bug --name Defect', 'svc template edit Bug --description - < bug.md'],
    })
      .option(...inProject)
      .option('--name <name>', 'its new name')
      .option(...withTitle),
  ).action((name: string, options: EditOptions) => runCommand(options, (scene) => edit(scene, name, options)))
  addClientCommand(template, {
    usage: 'delete <template>',
    summary: 'delete a task template; tasks made from it stay',
    examples: ['svc template delete Bug'],
  })
    .option(...inProject)
    .action((name: string, options: ProjectOptions) => runCommand(options, (scene) => remove(scene, name, options)))
}

async function list(scene: CommandContext, { project }: ProjectOptions): Promise<void> {
  const { id } = await findProject(scene, project)
  const answer = await scene.client.call('task_templates.list', { project_id: id })
  const rows = answer.items.map(({ id: template_id, name, title, priority, labels }) => [
    ...[shortId(template_id, answer.items), name, title, String(priority), labels.join(', ')],
  ])
  await scene.out.answer(answer, () =>
    rows.length === 0
      ? 'No templates yet. Save one with `svc template create`.'
      : formatTable(['ID', 'NAME', 'TITLE', 'PRIORITY', 'LABELS'], rows),
  )
}

async function show(scene: CommandContext, name: string, { project }: ProjectOptions): Promise<void> {
  const template = await findTemplate(scene, await findProject(scene, project), name)
  await scene.out.answer(template, () => textOf(template))
}

function textOf({ id, name, title, priority, labels, review_config, roles, description }: TaskTemplate): string {
  const { ci_steps, review_prompt } = review_config
  const assigned = Object.entries(roles).map(([role, one]) => `${role}: ${one.type} ${shortId(one.id)}`)
  const fields = formatFields([
    ['id', id],
    ['name', name],
    ['title', title],
    ['priority', priority === 0 ? null : String(priority)],
    ['labels', labels.join(', ')],
    ['checks', ci_steps === undefined ? 'those of the project' : ci_steps.join('; ') || 'none'],
    ['review prompt', review_prompt ?? null],
    ['roles', assigned.join(', ')],
  ])
  return description === null ? fields : `${fields}\n\n${plain(description)}`
}

async function create(scene: CommandContext, name: string, { from, title, ...options }: CreateOptions): Promise<void> {
  const project = await findProject(scene, options.project)
  const fields = await readTaskFields(scene, project, options)
  const template = await scene.client.call('task_templates.create', {
    project_id: project.id,
    name,
    ...(title !== undefined && { title }),
    ...(from !== undefined && { task_id: (await findTask(scene, from)).id }),
    ...fields,
  })
  await scene.out.answer(template, () => `Saved template ${plain(template.name)}.`)
}

async function edit(scene: CommandContext, which: string, { name, title, ...options }: EditOptions): Promise<void> {
  const project = await findProject(scene, options.project)
  const { id: template_id, review_config } = await findTemplate(scene, project, which)
  const fields = await readTaskFields(scene, project, options)
  const template = await scene.client.call('task_templates.update', {
    template_id,
    ...(name !== undefined && { name }),
    ...(title !== undefined && { title }),
    ...fields,
    ...(fields.review_config && { review_config: { ...review_config, ...fields.review_config } }),
  })
  await scene.out.answer(template, () => `Saved template ${plain(template.name)}.`)
}

async function remove(scene: CommandContext, which: string, { project }: ProjectOptions): Promise<void> {
  const template = await findTemplate(scene, await findProject(scene, project), which)
  await scene.client.call('task_templates.delete', { template_id: template.id })
  await scene.out.answer(template, () => `Deleted template ${plain(template.name)}.`)
}
