import type { Argument, Command, Option } from 'commander'

/** A possible next word of a command line. */
export interface Candidate {
  readonly value: string
  readonly about: string
}

/** Kinds of names that only the service knows. */
export type KnownThing = 'task' | 'project' | 'agent' | 'runner' | 'template'

/** Lists the service's names of a kind; empty if the service can't be asked. */
export type ListThings = (kind: KnownThing) => Promise<readonly Candidate[]>

/**
 * Returns what the last of `words` may become, where `words` is the command line after `svc`. Derived from the
 * commands, so it always matches them. If it is empty, the shell may offer files.
 */
export async function complete(
  program: Command,
  words: readonly string[],
  listThings: ListThings,
): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? ''
  const found = await candidates(program, words.slice(0, -1), current, listThings)
  return found.filter(({ value }) => value.startsWith(current))
}

async function candidates(program: Command, before: readonly string[], current: string, listThings: ListThings) {
  const { command, count, option } = walk(program, before)
  if (option) return valuesOf(option, option.attributeName(), listThings)
  if (current.startsWith('-')) return optionsOf(command)
  if (command.commands.length > 0) return subcommandsOf(command)
  const argument = command.registeredArguments[count]
  return argument ? valuesOf(argument, argument.name(), listThings) : []
}

/** Follows the words to a command, its number of arguments, and the option that still needs a value. */
function walk(program: Command, words: readonly string[]) {
  let command = program
  let count = 0
  let option: Option | undefined
  for (const word of words) {
    if (option) option = undefined
    else if (word.startsWith('-')) {
      const known = command.options.find(({ long, short }) => word === long || word === short)
      if (known?.required === true) option = known
    } else {
      const next = command.commands.find((one) => one.name() === word)
      if (next) command = next
      else count++
    }
  }
  return { command, count, option }
}

async function valuesOf({ argChoices }: Option | Argument, name: string, listThings: ListThings) {
  if (argChoices) return argChoices.map((value) => ({ value, about: '' }))
  const kind = { parent: 'task', from: 'task', waitFor: 'task' }[name] ?? name
  return isKnownThing(kind) ? listThings(kind) : []
}

const isKnownThing = (name: string): name is KnownThing =>
  ['task', 'project', 'agent', 'runner', 'template'].includes(name)

function optionsOf(command: Command): Candidate[] {
  const options = command.options.map(({ long, short, description }) => ({
    value: long ?? short ?? '',
    about: description,
  }))
  return [...options, { value: '--help', about: 'show this help' }]
}

/** Returns the visible subcommands; names with a leading underscore are for shell scripts. */
function subcommandsOf(command: Command): Candidate[] {
  return command.commands
    .filter((one) => !one.name().startsWith('_'))
    .map((one) => ({ value: one.name(), about: one.description() }))
}
