import type { Command } from 'commander'
import { attachmentMarkdown } from '../../../src-shared/contract/attachment-text.ts'
import { uploadFiles } from '../attachments.ts'
import { findProject, findTask } from '../find.ts'
import { plain } from '../output.ts'
import { pick } from '../pick.ts'
import { textOf } from '../prompt.ts'
import { formatTable } from '../table.ts'
import {
  addClientCommand,
  collect,
  runCommand,
  wholeNumber,
  type CommonOptions,
  type CommandContext,
} from '../command-context.ts'

interface CreateOptions extends CommonOptions {
  readonly project?: string
  readonly description?: string
  readonly attach?: readonly string[]
  readonly ci?: readonly string[]
  readonly reviewPrompt?: string
  readonly label?: readonly string[]
  readonly priority?: number
  readonly status?: string
  readonly repo?: string
  readonly parent?: string
  readonly ordered?: boolean
}

interface CommentOptions extends CommonOptions {
  readonly file?: string
  readonly line?: number
  readonly answer?: string
  readonly resolve?: boolean
}

/** `svc task create`, `svc task comment` and `svc task comments`: what people write. */
export function addTaskCreate(task: Command): void {
  addClientCommand(task, {
    usage: 'create <title>',
    summary: 'create a task',
    examples: [
      'svc task create "Sort the list by date" --ci "npm test"',
      'svc task create "Speed up the search" --description - --label search < brief.md',
      'svc task create "The menu is cut off" --attach screenshot.png',
      'svc task claim "$(svc task create "Fix the typo" --json | jq -r .id)" --agent Claude',
    ],
  })
    .option('--project <project>', 'id or name; by default that of the folder you are in')
    .option('--description <text>', 'what should change; - reads it from stdin')
    .option('--attach <file>', 'file that goes with the description (repeatable)', collect)
    .option('--ci <command>', 'check that must pass (repeatable)', collect)
    .option('--review-prompt <text>', 'what an agent that reviews it is asked')
    .option('--label <label>', 'repeatable', collect)
    .option('--priority <number>', '0 (none) to 4 (urgent)', wholeNumber(0, 4))
    .option('--status <state>', 'initial state')
    .option('--repo <repository>', 'id or name; by default the project’s primary one')
    .option('--parent <task>', 'parent task')
    .option('--ordered', 'run in order, in the parent’s worktree')
    .action((title: string, options: CreateOptions) => runCommand(options, (scene) => create(scene, title, options)))
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

async function create(scene: CommandContext, title: string, options: CreateOptions): Promise<void> {
  const { description, ci, reviewPrompt, label, priority, status, parent, ordered } = options
  const project = await findProject(scene, options.project)
  const repos = project.repos.map((repo) => ({ ...repo, title: repo.name, isName: true }))
  const files = await uploadFiles(scene, { project_id: project.id }, options.attach ?? [])
  const said = [description === undefined ? '' : await textOf(description), files.map(attachmentMarkdown).join('\n')]
  const whole = said.filter((text) => text !== '').join('\n\n')
  const task = await scene.client.call('tasks.create', {
    project_id: project.id,
    title,
    ...((description !== undefined || files.length > 0) && { description: whole }),
    ...((ci !== undefined || reviewPrompt !== undefined) && {
      review_config: {
        ...(ci !== undefined && { ci_steps: [...ci] }),
        ...(reviewPrompt !== undefined && { review_prompt: reviewPrompt }),
      },
    }),
    ...(label !== undefined && { labels: [...label] }),
    ...(priority !== undefined && { priority }),
    ...(status !== undefined && { status }),
    ...(options.repo !== undefined && { repo_id: pick('repository', repos, options.repo).id }),
    ...(parent !== undefined && { parent_id: (await findTask(scene, parent)).id }),
    ...(ordered === true && { subtask_mode: 'ordered' as const }),
  })
  await scene.out.answer(task, () => `${task.ref}  ${plain(task.title)} is in ${task.status}.`)
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
  const said = { task_id: id, body: await textOf(text), ...anchor, ...thread }
  const answer = await scene.client.call('comments.create', said)
  await scene.out.answer(answer, () => `Commented on ${called}.`)
}
