import type { Command } from 'commander'
import type { OperationInput, OperationOutput } from '../../../src-shared/contract/operations.ts'
import { showInPager } from '../../platform/process/terminal-program.ts'
import { findTask } from '../find.ts'
import { addClientCommand, runCommand, type CommonOptions, type CommandContext } from '../command-context.ts'
import { paint, plain } from '../output.ts'
import { formatTable } from '../table.ts'

interface DiffOptions extends CommonOptions {
  readonly uncommitted?: boolean
  readonly path?: string
  readonly commit?: string
  readonly unseen?: boolean
}

/** Adds `svc task diff`. */
export function addTaskDiff(task: Command): void {
  addClientCommand(task, {
    usage: 'diff <task>',
    summary: 'show what a task has changed, in git’s format; on a terminal through your pager',
    examples: ['svc task diff SHO-42', 'svc task diff SHO-42 | git apply', 'svc task diff SHO-42 --path README.md'],
  })
    .option('--uncommitted', 'only uncommitted changes, instead of the whole branch')
    .option('--commit <commit>', 'only what this commit of the branch changed; `svc task commits` lists them')
    .option('--unseen', 'only what you have not marked as viewed of the whole branch')
    .option('--path <path>', 'only this file')
    .action((ref: string, options: DiffOptions) => runCommand(options, (scene) => show(scene, ref, options)))
  addClientCommand(task, {
    usage: 'commits <task>',
    summary: 'list the commits of a task’s branch, newest first',
    examples: ['svc task commits SHO-42'],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => listCommits(scene, ref)))
  addClientCommand(task, {
    usage: 'conflicts <task>',
    summary: 'show what a merge of a task would conflict in now, both sides and whose commit moved the base',
    examples: ['svc task conflicts SHO-42'],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => showConflicts(scene, ref)))
}

async function showConflicts(scene: CommandContext, ref: string): Promise<void> {
  const { id } = await findTask(scene, ref)
  const answer = await scene.client.call('tasks.conflicts', { task_id: id })
  const { base_branch, files, hunks, base_changes } = answer
  const ofFile = (path: string): string => {
    const change = base_changes.find((one) => one.path === path)
    const moved = change
      ? [`  ${plain(base_branch)}: ${change.commit.slice(0, 8)} “${plain(change.subject)}”, ${plain(change.author)}`]
      : []
    const places = hunks.filter((hunk) => hunk.path === path)
    const texts = places.flatMap(({ text }) =>
      text === null ? [] : [text.split('\n').map(plain).join('\n').trimEnd()],
    )
    return [plain(path), ...moved, ...texts].join('\n')
  }
  await scene.out.answer(answer, () =>
    files.length === 0 ? `It would merge into ${plain(base_branch)} now.` : files.map(ofFile).join('\n\n'),
  )
}

async function listCommits(scene: CommandContext, ref: string): Promise<void> {
  const { id } = await findTask(scene, ref)
  const answer = await scene.client.call('tasks.commits', { task_id: id })
  await scene.out.answer(answer, () =>
    answer.items.length === 0
      ? 'The branch has no commits of its own.'
      : formatTable(
          ['Commit', 'When', 'Author', 'Subject'],
          answer.items.map((one) =>
            [one.id.slice(0, 8), one.authored_at.slice(0, 16), one.author, one.subject].map(plain),
          ),
        ),
  )
}

async function show(
  scene: CommandContext,
  ref: string,
  { uncommitted, path, commit, unseen }: DiffOptions,
): Promise<void> {
  const { client, out, env } = scene
  const { id } = await findTask(scene, ref)
  const request: OperationInput<'tasks.diff'> = {
    task_id: id,
    scope: uncommitted === true ? 'uncommitted' : 'branch',
    ...(path !== undefined && { path }),
    ...(commit !== undefined && { commit }),
    ...(unseen === true && { unseen }),
  }
  const diff = await client.call('tasks.diff', request)
  if (out.json) return out.answer(diff, () => '')
  const patch = diff.patch + (await omittedPatches(scene, request, diff))
  if (!process.stdout.isTTY) return out.raw(patch)
  const shown = paintPatch(patch)
  const pager = env['GIT_PAGER'] ?? env['PAGER'] ?? 'less'
  const isPlain = pager === '' || pager === 'cat' || patch === ''
  // Flags as git sets them: pass colours through, exit on a short text, keep the screen.
  if (isPlain || !(await showInPager(pager, shown, { LESS: 'FRX', ...env }))) await out.raw(shown)
  if (diff.tree !== null)
    out.info(`What you saw is the tree ${diff.tree}. To decide on just that, add --tree ${diff.tree}`)
}

/** Fetches, file by file, the patches that a large diff left out. */
async function omittedPatches(
  { client }: CommandContext,
  request: OperationInput<'tasks.diff'>,
  { files }: OperationOutput<'tasks.diff'>,
): Promise<string> {
  const patches: string[] = []
  for (const { path } of files.filter(({ truncated, binary }) => truncated && !binary)) {
    patches.push((await client.call('tasks.diff', { ...request, path })).patch)
  }
  return patches.join('')
}

/** Colours a patch as git does. */
function paintPatch(patch: string): string {
  let inHunk = false
  return patch
    .split('\n')
    .map((line) => {
      const text = plain(line)
      if (text.startsWith('diff --git ')) inHunk = false
      if (text.startsWith('@@')) inHunk = true
      return paintLine(text, inHunk)
    })
    .join('\n')
}

function paintLine(text: string, inHunk: boolean): string {
  if (text === '') return text
  if (!inHunk) return paint('bold', text)
  if (text.startsWith('@@')) return paint('cyan', text)
  if (text.startsWith('+')) return paint('green', text)
  return text.startsWith('-') ? paint('red', text) : text
}
