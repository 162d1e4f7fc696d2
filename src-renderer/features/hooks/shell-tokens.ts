/** What a piece of a script is; `plain` is everything that has no colour. */
export interface ShellToken {
  readonly kind: 'plain' | 'comment' | 'string' | 'variable' | 'keyword'
  readonly text: string
}

const keywords =
  'if|then|elif|else|fi|for|in|do|done|while|until|case|esac|function|return|exit|export|local|readonly|set|trap|source'

// Strings may be open at the end while they are being typed; a comment begins where a word may.
const pieces = new RegExp(
  [
    String.raw`(?<comment>(?<![^\s;&|(])#.*)`,
    String.raw`(?<string>'[^']*(?:'|$)|"(?:\\[\s\S]|[^"\\])*(?:"|$))`,
    String.raw`(?<variable>\$(?:\{[^}\n]*\}?|\w+|[?!#$@*-]))`,
    String.raw`(?<keyword>(?<![\w./$-])(?:${keywords})(?![\w./=-]))`,
    String.raw`(?<plain>\\[\s\S])`,
  ].join('|'),
  'g',
)

/** A script in pieces, which put together are the script: for colours, not for judging whether it is right. */
export function shellTokens(script: string): ShellToken[] {
  const tokens: ShellToken[] = []
  const push = (kind: ShellToken['kind'], text: string) => {
    if (text !== '') tokens.push({ kind, text })
  }
  let from = 0
  for (const match of script.matchAll(pieces)) {
    push('plain', script.slice(from, match.index))
    push(kindOf(match.groups ?? {}), match[0])
    from = match.index + match[0].length
  }
  push('plain', script.slice(from))
  return tokens
}

function kindOf(groups: Readonly<Record<string, string | undefined>>): ShellToken['kind'] {
  if (groups['comment'] !== undefined) return 'comment'
  if (groups['string'] !== undefined) return 'string'
  if (groups['variable'] !== undefined) return 'variable'
  return groups['keyword'] === undefined ? 'plain' : 'keyword'
}
