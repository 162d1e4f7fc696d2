/** How many values follow a flag: none, one, one if it does not look like a flag, or as many as there are. */
export type Arity = 'none' | 'one' | 'optional' | 'many'

/** What of a person's own arguments an agent may not get. */
export interface RefusedArgs {
  /** Flags that are ours to set, or that would turn an unattended run into something else. */
  readonly flags: Readonly<Record<string, Arity>>
  /** Short flags that stay the agent's. Any other is refused: it could hide a refused one, as in `-pc`. */
  readonly allowedShort: RegExp
  /** Short flags that are refused together with a value, if they have one. */
  readonly shortWithValue?: RegExp
}

export interface FilteredArgs {
  readonly args: readonly string[]
  /** Those that were left out, because they would break the protocol or the rules of a run. */
  readonly refused: readonly string[]
}

/** Sorts a person's own arguments into those that an agent gets and those that it may not have. */
export function filterArgs(given: readonly string[], rules: RefusedArgs): FilteredArgs {
  const args: string[] = []
  const refused: string[] = []
  for (let at = 0; at < given.length;) {
    const values = countValues(given, at + 1)
    const token = given[at] ?? ''
    if (!token.startsWith('-') || token === '-' || token === '--') {
      // Words that follow no flag would be a second prompt or a subcommand.
      refused.push(token)
      at += 1
    } else if (isRefused(token, rules)) {
      const taken = Math.min(values, arityOf(token, rules))
      refused.push(...given.slice(at, at + 1 + taken))
      at += 1 + taken
    } else {
      args.push(...given.slice(at, at + 1 + values))
      at += 1 + values
    }
  }
  return { args, refused }
}

const isRefused = (token: string, { flags, allowedShort }: RefusedArgs): boolean =>
  token.startsWith('--') ? Object.hasOwn(flags, nameOf(token)) : !allowedShort.test(token)

const nameOf = (token: string): string => token.split('=', 1)[0] ?? token

function arityOf(token: string, { flags, shortWithValue }: RefusedArgs): number {
  if (token.includes('=')) return 0
  const arity = token.startsWith('--') ? flags[token] : shortWithValue?.test(token) === true ? 'optional' : 'none'
  return arity === 'many' ? Infinity : arity === 'none' || arity === undefined ? 0 : 1
}

/** The words from `from` on up to the next flag. */
function countValues(given: readonly string[], from: number): number {
  const next = given.findIndex((token, at) => at >= from && token.startsWith('-'))
  return (next < 0 ? given.length : next) - from
}
