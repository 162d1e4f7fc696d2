import type { Command } from 'commander'
import type { Prompt } from '../../../src-shared/contract/prompts.ts'
import { findTask } from '../find.ts'
import { plain } from '../output.ts'
import { pick } from '../pick.ts'
import { addClientCommand, runCommand, type CommonOptions, type CommandContext } from '../command-context.ts'
import { formatTable } from '../table.ts'

interface PromptOptions extends CommonOptions {
  readonly role?: string
  readonly execution?: string
}

/** Adds `svc task prompt`. */
export function addTaskPrompt(task: Command): void {
  addClientCommand(task, {
    usage: 'prompt <task>',
    summary: 'show the prompt of the next run or of a past one, and the size of each part',
    examples: [
      'svc task prompt SHO-42',
      'svc task prompt SHO-42 --role reviewer',
      'svc task prompt SHO-42 --json | jq -r .prompt',
    ],
  })
    .option('--role <role>', 'as whom; by default whose turn it is')
    .option('--execution <id>', 'what this execution of the task was told')
    .action((ref: string, options: PromptOptions) => runCommand(options, (scene) => show(scene, ref, options)))
}

async function show(scene: CommandContext, ref: string, { role, execution }: PromptOptions): Promise<void> {
  const { client } = scene
  const { id: task_id } = await findTask(scene, ref)
  const answer =
    execution === undefined
      ? await client.call('tasks.prompt', { task_id, ...(role !== undefined && { role }) })
      : await client.call('executions.prompt', { execution_id: await executionOf(scene, task_id, execution) })
  await printPrompt(scene, answer)
}

/** Prints the size of each part of a prompt, then the prompt. */
export async function printPrompt({ out }: CommandContext, answer: Prompt): Promise<void> {
  await out.answer(answer, () => {
    const rows = answer.parts.map(({ kind, characters, tokens }) => [kind.replaceAll('_', ' '), characters, tokens])
    const all = [...rows, ['all', answer.characters, answer.tokens]].map((row) => row.map(String))
    return `${formatTable(['PART', 'CHARACTERS', 'TOKENS, ABOUT'], all)}\n\n${plain(answer.prompt)}`
  })
}

async function executionOf({ client }: CommandContext, task_id: string, ref: string): Promise<string> {
  const { items } = await client.call('tasks.executions', { task_id })
  const named = items.map((item) => ({ ...item, title: `${item.role}, ${item.status}`, isName: false }))
  return pick('execution', named, ref).id
}
