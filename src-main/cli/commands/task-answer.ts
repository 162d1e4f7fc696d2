import { Option, type Command } from 'commander'
import type { Ask, Execution } from '../../../src-shared/contract/executions.ts'
import { CliError, usageError } from '../cli-error.ts'
import { findTask } from '../find.ts'
import { paint, plain } from '../output.ts'
import { textOf } from '../prompt.ts'
import { addClientCommand, runCommand, type CommonOptions, type CommandContext } from '../command-context.ts'

interface AnswerOptions extends CommonOptions {
  readonly text?: string
  readonly ask?: string
}

/** Adds `svc task answer`. */
export function addTaskAnswer(task: Command): void {
  addClientCommand(task, {
    usage: 'answer <task> [option]',
    summary: 'answer an agent’s question or permission request; with no answer, show it',
    examples: [
      'svc task answer SHO-42',
      'svc task answer SHO-42 allow',
      'svc task answer SHO-42 reject --text "Use pnpm"',
      'svc task answer SHO-42 --text "The blue one"',
    ],
  })
    .option('--text <text>', 'your own words (- reads them from stdin)')
    .addOption(new Option('--ask <id>', 'which question, by its id; by default the oldest'))
    .action((ref: string, option: string | undefined, options: AnswerOptions) =>
      runCommand(options, (scene) => answer(scene, ref, option, options)),
    )
}

async function answer(
  scene: CommandContext,
  ref: string,
  option: string | undefined,
  options: AnswerOptions,
): Promise<void> {
  const { client, out } = scene
  const { ref: called, active_execution_id } = await findTask(scene, ref)
  const execution =
    active_execution_id === null ? null : await client.call('executions.get', { execution_id: active_execution_id })
  const asks = execution?.asks ?? []
  if (option === undefined && options.text === undefined) {
    await out.answer({ items: asks }, () => asks.map((ask) => describe(ask, called)).join('\n\n') || nothing)
    return
  }
  const ask = options.ask === undefined ? asks[0] : asks.find(({ id }) => id === options.ask)
  if (!execution || !ask) throw new CliError('not_found', options.ask === undefined ? nothing : gone)
  const given = {
    ...(option !== undefined && { option_id: optionOf(ask, option) }),
    ...(options.text !== undefined && { text: await textOf(options.text) }),
  }
  const answered: { readonly execution: Execution } = await client.call('executions.answer', {
    execution_id: execution.id,
    ask_id: ask.id,
    ...given,
  })
  await out.answer(answered, () => {
    const left = answered.execution.asks ?? []
    return left.length === 0
      ? 'Answered.'
      : `Answered. It also asks:\n\n${left.map((one) => describe(one, called)).join('\n\n')}`
  })
}

const nothing = "The agent isn't asking anything."
const gone = 'That question is closed. See the current one with `svc task answer <task>`.'

/** Finds an option by ID or label. */
function optionOf({ options }: Ask, wanted: string): string {
  const found = options.find(({ id, label }) => [id, label].some((name) => name.toLowerCase() === wanted.toLowerCase()))
  if (found) return found.id
  const known = options.map(({ id }) => id).join(', ')
  throw usageError(`No option ${JSON.stringify(wanted)}. ${known === '' ? 'Use --text.' : `Use ${known}, or --text.`}`)
}

function describe({ text, detail, diff, options, multiple, takes_text }: Ask, called: string): string {
  const change = diff && `${diff.path}\n${signed('-', diff.old_text)}${signed('+', diff.new_text)}`.trimEnd()
  const choices = options.map(({ id, label, description }) => {
    const more = description === null ? '' : paint('dim', plain(` (${description})`))
    return `  ${paint('bold', id)}  ${plain(label)}${more}`
  })
  const words = takes_text ? ` --text ${multiple ? '"one, another"' : '"your words"'}` : ''
  const how = `svc task answer ${called}${options.length > 0 ? ' <option>' : ''}${words}`
  const parts = [paint('yellow', plain(`? ${text}`)), detail && plain(detail), change && plain(change), ...choices]
  return [...parts.filter((part) => part !== null && part !== ''), paint('dim', how)].join('\n')
}

const signed = (sign: string, text: string | null): string =>
  (text ?? '')
    .split('\n')
    .filter((line, index, all) => line !== '' || index < all.length - 1)
    .map((line) => `${sign} ${line}\n`)
    .join('')
