/** A token of a line of code. `colour` null is the color of text. */
export interface CodeToken {
  readonly text: string
  readonly colour: string | null
}

/** Longer code isn't highlighted, because highlighting runs on the main thread. */
const maxCharacters = 40_000

type Lines = readonly (readonly CodeToken[])[]

/** Entries of the cache by path and text, because rows are rendered again while scrolling. */
const maxCached = 100
const known = new Map<string, Promise<Lines | null>>()

/** Returns the highlighted lines of a piece of code; null if its language is unknown. */
export function codeTokens(path: string, code: string): Promise<Lines | null> {
  const key = `${path}\n${code}`
  const lines = known.get(key) ?? colour(path, code)
  known.delete(key)
  known.set(key, lines)
  const [oldest] = known.keys()
  if (known.size > maxCached && oldest !== undefined) known.delete(oldest)
  return lines
}

async function colour(path: string, code: string): Promise<Lines | null> {
  if (code.length > maxCharacters) return null
  // The library is large, so load it on first use.
  const [{ getFiletypeFromFileName, getSharedHighlighter }, { diffTheme }] = await Promise.all([
    import('@pierre/diffs'),
    import('../diff/diff-theme.ts'),
  ])
  const lang = getFiletypeFromFileName(path)
  if (lang === 'text') return null
  const theme = diffTheme().light
  const highlighter = await getSharedHighlighter({ themes: [theme], langs: [lang], preferredHighlighter: 'shiki-js' })
  const { tokens } = highlighter.codeToTokens(code, { lang, theme })
  return tokens.map((line) => line.map(({ content, color }) => ({ text: content, colour: color ?? null })))
}

/** A part of a line with one style. */
export interface CodePiece extends CodeToken {
  readonly marked: boolean
}

/** Splits the tokens of a line at the ends of the marked range. */
export function markedPieces(
  line: readonly CodeToken[],
  mark: readonly [start: number, end: number] | null,
): CodePiece[] {
  if (mark === null) return line.map((token) => ({ ...token, marked: false }))
  const [start, end] = mark
  let at = 0
  return line.flatMap(({ text, colour }) => {
    const cuts = [0, start - at, end - at, text.length].map((cut) => Math.min(Math.max(cut, 0), text.length))
    at += text.length
    return [0, 1, 2].flatMap((n) => {
      const part = text.slice(cuts[n], cuts[n + 1])
      return part === '' ? [] : [{ text: part, colour, marked: n === 1 }]
    })
  })
}
