/** A command of bubblewrap as its words. The options end with `--`. */
export type BwrapCommand = readonly string[]

/** Returns the words of the shell command that starts bubblewrap; null for another command. */
export function readBwrap(command: string): BwrapCommand | null {
  if (!command.startsWith('bwrap ')) return null
  const words: string[] = []
  let word: string | null = null
  for (const [part] of command.matchAll(/'[^']*'|"(?:[^"\\]|\\.)*"|\\.|\s+|[^\s'"\\]+/gs)) {
    if (/^\s/.test(part)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + meaning(part)
  }
  return word === null ? words : [...words, word]
}

function meaning(part: string): string {
  if (part.startsWith("'")) return part.slice(1, -1)
  if (part.startsWith('"')) return part.slice(1, -1).replaceAll(/\\([$`"\\!\n])/g, '$1')
  if (part.startsWith('\\')) return part.slice(1)
  if (/[;&|<>()$`*?[\]{}]/.test(part))
    throw new Error(`The containment's command has an operator of the shell: ${part}`)
  return part
}

/**
 * Gives a run its own System V memory and host name. Removes `--new-session`, because it has its own session already
 * and a terminal would have no interrupt keys and no size in another one.
 */
export const alone = (command: BwrapCommand): BwrapCommand => [
  ...command.slice(0, 1),
  ...['--unshare-ipc', '--unshare-uts'],
  ...command.slice(1).filter((word, index) => !(word === '--new-session' && index < command.indexOf('--'))),
]

/** Adds options after all mounts, which end before bubblewrap's own devices. */
export function mountedLast(command: BwrapCommand, options: readonly string[]): BwrapCommand {
  const at = command.indexOf('--dev')
  if (at < 0) throw new Error("The containment's command has no place for further mounts.")
  return command.toSpliced(at, 0, ...options)
}

/**
 * Puts options where a folder is hidden, instead of the empty folder there. What is shown again in it comes after.
 * Where the folder is hidden with another one, it is made first.
 */
export function mountedAt(command: BwrapCommand, folder: string, options: readonly string[]): BwrapCommand {
  const isAt = (index: number, test: (landing: string) => boolean): boolean =>
    command[index] === '--tmpfs' && test(command[index + 1] ?? '')
  const own = command.findIndex((_, index) => isAt(index, (landing) => landing === folder))
  if (own >= 0) return command.toSpliced(own, 2, ...options)
  const around = command.findLastIndex((_, index) => isAt(index, (landing) => folder.startsWith(`${landing}/`)))
  if (around < 0) throw new Error(`The containment's command doesn't hide ${folder}.`)
  return command.toSpliced(around + 2, 0, ...options)
}
