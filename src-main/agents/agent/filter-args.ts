/** Number of values of a flag: none, one, one that does not look like a flag, or any number. */
export type Arity = 'none' | 'one' | 'optional' | 'many'

/** The arguments of a person that an agent may not get. */
export interface RefusedArgs {
  /** Flags that Copse sets, or that would change how an unattended run works. */
  readonly flags: Readonly<Record<string, Arity>>
  /** Allowed short flags. Any other is refused: it could hide a refused one, as in `-pc`. */
  readonly allowedShort: RegExp
  /** Short flags refused together with their value, if they have one. */
  readonly shortWithValue?: RegExp
}

export interface FilteredArgs {
  readonly args: readonly string[]
  /** Arguments left out because they would break the protocol or the rules of a run. */
  readonly refused: readonly string[]
}

/** Sorts a person's arguments into allowed and refused ones. */
export function filterArgs(given: readonly string[], rules: RefusedArgs): FilteredArgs {
  const args: string[] = []
  const refused: string[] = []
  for (let at = 0; at < given.length;) {
    const values = countValues(given, at + 1)
    const token = given[at] ?? ''
    if (!token.startsWith('-') || token === '-' || token === '--') {
      // Arguments without a flag would be a second prompt or a subcommand.
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
  token.startsWith('--') ? Object.hasOwn(flags, flagName(token)) : !allowedShort.test(token)

const flagName = (token: string): string => token.split('=', 1)[0] ?? token

function arityOf(token: string, { flags, shortWithValue }: RefusedArgs): number {
  if (token.includes('=')) return 0
  const arity = token.startsWith('--') ? flags[token] : shortWithValue?.test(token) === true ? 'optional' : 'none'
  return arity === 'many' ? Infinity : arity === 'none' || arity === undefined ? 0 : 1
}

/** Counts the arguments from `from` to the next flag. */
function countValues(given: readonly string[], from: number): number {
  const next = given.findIndex((token, at) => at >= from && token.startsWith('-'))
  return (next < 0 ? given.length : next) - from
}
