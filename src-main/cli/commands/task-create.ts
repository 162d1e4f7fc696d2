import type { Command } from 'commander'
import { attachmentMarkdown } from '../../../src-shared/contract/attachment-text.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Project } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { uploadFiles } from '../attachments.ts'
import { CliError, usageError } from '../cli-error.ts'
import { findProject, findTask } from '../find.ts'
import { plain } from '../output.ts'
import { textOf } from '../prompt.ts'
import { formatTable } from '../table.ts'
import { addTaskFieldOptions, findTemplate, readTaskFields, type TaskFieldOptions } from '../task-fields.ts'
import { createMany } from './task-create-many.ts'
import { printPrompt } from './task-prompt.ts'
import {
  addClientCommand,
  collect,
  runCommand,
  wholeNumber,
  type CommonOptions,
  type CommandContext,
} from '../command-context.ts'

interface CreateOptions extends CommonOptions, TaskFieldOptions {
  readonly project?: string
  readonly template?: string
  readonly attach?: readonly string[]
  readonly from?: string
  readonly status?: string
  readonly parent?: string
  readonly ordered?: boolean
  readonly waitFor?: readonly string[]
  readonly on?: string
  readonly previewPrompt?: boolean
  readonly role?: string
}

interface CommentOptions extends CommonOptions {
  readonly file?: string
  readonly line?: number
  readonly answer?: string
  readonly resolve?: boolean
}

/** Adds `svc task create`, `svc task comment` and `svc task comments`. */
export function addTaskCreate(task: Command): void {
  addTaskFieldOptions(
    addClientCommand(task, {
      usage: 'create [title]',
      summary:
        'create a task or many, or show the prompt that an agent would get for it (- reads title and description)',
      examples: [
        'svc task create "Sort the list by date" --ci "npm test"',
        'svc task create "Speed up the search" --description - --label search < brief.md',
        'svc task create - < brief.md',
        'svc task create "The menu is cut off" --attach screenshot.png --template Bug',
        'svc task create --from plan.txt --label search',
        'svc task create "Fix the typo" --assign coder=Claude --preview-prompt',
        'svc task claim "$(svc task create "Fix the typo" --json | jq -r .id)" --agent Claude',
      ],
    })
      .option('--project <project>', 'ID or name; by default that of the folder you are in')
      .option('--template <template>', 'task template that says what you leave out, the title too'),
  )
    .option('--from <file>', 'create all that a list names: a title a line, or JSON (- reads stdin)')
    .option('--attach <file>', 'file that goes with the description (repeatable)', collect)
    .option('--status <state>', 'initial state')
    .option('--parent <task>', 'parent task')
    .option('--ordered', 'run in order, in the parent’s worktree')
    .option('--wait-for <task>', 'task that must be done first (repeatable)', collect)
    .option('--on <task>', 'task on whose branch this one begins; it lands after that one')
    .option('--preview-prompt', 'show the prompt, and create nothing')
    .option('--role <role>', 'with --preview-prompt: as whom; by default whose turn it is')
    .action((title: string | undefined, options: CreateOptions) =>
      runCommand(options, (scene) => create(scene, title, options)),
    )
  addClientCommand(task, {
    usage: 'comment <task> <text>',
    summary: 'comment on a task, or on a line of its diff (- reads the text from stdin)',
    examples: ['svc task comment SHO-42 "Looks good"', 'svc task comment SHO-42 "Why?" --file src/a.ts --line 12'],
  })
    .option('--file <path>', 'the changed file that it is about')
    .option('--line <number>', 'its line in the new file', wholeNumber(1, 10_000_000))
    .option('--answer <comment>', 'the comment that it answers; `svc task comments` has the ids')
    .option('--resolve', 'with --answer: the thread is done')
    .action((ref: string, text: string, options: CommentOptions) =>
      runCommand(options, (scene) => comment(scene, ref, text, options)),
    )
  addClientCommand(task, {
    usage: 'comments <task>',
    summary: 'list the comments on a task, and how far each is: draft, sent, answered or resolved',
    examples: ['svc task comments SHO-42'],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => listComments(scene, ref)))
}

async function listComments(scene: CommandContext, ref: string): Promise<void> {
  const { id } = await findTask(scene, ref)
  const answer = await scene.client.call('comments.list', { task_id: id })
  const rows = answer.items.map(({ id: comment_id, state, author, anchor, body }) => [
    comment_id,
    state,
    author.name,
    anchor ? `${anchor.path}:${anchor.line}` : '',
    (body.split('\n')[0] ?? '').slice(0, 80),
  ])
  await scene.out.answer(answer, () =>
    rows.length === 0
      ? 'No comments yet.'
      : formatTable(
          ['Id', 'State', 'By', 'Place', 'Text'],
          rows.map((row) => row.map(plain)),
        ),
  )
}

const unfitForMany = ['assign', 'attach', 'on', 'previewPrompt', 'role', 'template', 'waitFor'] as const
const noneOfTheseForMany =
  '--from takes neither a title nor --assign, --attach, --on, --preview-prompt, --template or --wait-for. JSON may have `key`, `depends_on` and `stacked_on`.'

async function create(scene: CommandContext, given: string | undefined, asked: CreateOptions): Promise<void> {
  const { title, options } = await readTitle(given, asked)
  const project = await findProject(scene, options.project)
  if (options.from !== undefined) {
    const unfit = unfitForMany.filter((name) => options[name] !== undefined)
    if (title !== undefined || unfit.length > 0) throw usageError(noneOfTheseForMany)
    const {
      title: _,
      project_id,
      roles: _roles,
      dependencies: _none,
      ...fields
    } = await readDraft(scene, project, options.from, options)
    await createMany(scene, project_id, options.from, fields)
    return
  }
  const draft = await readDraft(scene, project, title, options)
  if (options.previewPrompt === true) {
    if (options.on !== undefined) throw usageError('A preview says nothing of --on. Leave it out.')
    if (options.attach !== undefined) throw usageError('A preview takes no files. Leave --attach out.')
    const role = options.role === undefined ? {} : { role: options.role }
    await printPrompt(scene, await scene.client.call('tasks.draft_prompt', { ...draft, ...role }))
    return
  }
  if (options.role !== undefined) throw usageError('--role goes with --preview-prompt. Use --assign to give a role.')
  const { roles, dependencies, ...fields } = draft
  const files = await uploadFiles(scene, { project_id: project.id }, options.attach ?? [])
  const paragraphs = [fields.description ?? '', files.map(attachmentMarkdown).join('\n')].filter((text) => text !== '')
  const stacked_on = options.on === undefined ? null : (await findTask(scene, options.on)).id
  const task = await scene.client.call('tasks.create', {
    ...fields,
    ...(stacked_on !== null && { stacked_on }),
    ...(paragraphs.length > 0 && { description: paragraphs.join('\n\n') }),
  })
  const whole = await addRelations(scene, task, { roles, dependencies })
  await scene.out.answer(whole, () => `${task.ref}  ${plain(task.title)} is in ${task.status}.`)
}

/** With `-` as title, the first line of stdin is the title and the rest the description, like a commit message. */
async function readTitle(title: string | undefined, options: CreateOptions) {
  if (title !== '-') return { title, options }
  if (options.description !== undefined || options.from !== undefined)
    throw usageError('Title and description both come from stdin. Leave --description and --from out.')
  const [first = '', ...rest] = (await textOf('-')).trim().split(/\r?\n/)
  if (first.trim() === '') throw usageError('Nothing came on stdin. Its first line is the title.')
  const description = rest.join('\n').trim()
  return { title: first.trim(), options: description === '' ? options : { ...options, description } }
}

async function readDraft(
  scene: CommandContext,
  project: Project,
  title: string | undefined,
  options: CreateOptions,
): Promise<OperationInput<'tasks.draft_prompt'>> {
  const template = options.template === undefined ? null : await findTemplate(scene, project, options.template)
  const whole = title ?? template?.title ?? ''
  if (whole.trim() === '') throw usageError('Say what the task is called: svc task create "Fix the typo".')
  const { description, repo_id, ...written } = await readTaskFields(scene, project, options)
  const text = description ?? template?.description ?? null
  const repo = repo_id ?? template?.repo_id ?? null
  const review_config = { ...template?.review_config, ...written.review_config }
  const { status, parent, ordered, waitFor } = options
  return {
    project_id: project.id,
    ...(template && { priority: template.priority, labels: template.labels, roles: template.roles }),
    ...written,
    title: whole,
    ...(Object.keys(review_config).length > 0 && { review_config }),
    roles: { ...template?.roles, ...written.roles },
    ...(text !== null && { description: text }),
    ...(repo !== null && { repo_id: repo }),
    ...(status !== undefined && { status }),
    ...(parent !== undefined && { parent_id: (await findTask(scene, parent)).id }),
    ...(ordered === true && { subtask_mode: 'ordered' as const }),
    dependencies: await Promise.all((waitFor ?? []).map(async (ref) => (await findTask(scene, ref)).id)),
  }
}

/** Sets roles and dependencies. If that is refused, the task still exists. */
async function addRelations(
  { client }: CommandContext,
  task: Task,
  { roles = {}, dependencies = [] }: Pick<OperationInput<'tasks.draft_prompt'>, 'roles' | 'dependencies'>,
): Promise<Task> {
  const task_id = task.id
  try {
    for (const depends_on_id of dependencies) await client.call('tasks.add_dependency', { task_id, depends_on_id })
    for (const [role, { type, id }] of Object.entries(roles)) {
      const who = type === 'agent' ? { agent_id: id } : { user_id: id }
      await client.call('tasks.assign_role', { task_id, role, ...who })
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const message = `${task.ref} was created, but it doesn't have everything you asked for. ${error.message}`
    throw new CliError(error.code, message, { cause: error })
  }
  const isWhole = dependencies.length + Object.keys(roles).length === 0
  return isWhole ? task : await client.call('tasks.get', { task_id })
}

async function comment(
  scene: CommandContext,
  ref: string,
  text: string,
  { file, line, answer: parent_id, resolve }: CommentOptions,
): Promise<void> {
  const { id, ref: called } = await findTask(scene, ref)
  const anchor = file === undefined ? {} : { anchor: { path: file, side: 'new' as const, line: line ?? 1 } }
  const thread = {
    ...(parent_id !== undefined && { parent_id }),
    ...(resolve === true && { resolves: true }),
  }
  const request = { task_id: id, body: await textOf(text), ...anchor, ...thread }
  const answer = await scene.client.call('comments.create', request)
  await scene.out.answer(answer, () => `Commented on ${called}.`)
}
