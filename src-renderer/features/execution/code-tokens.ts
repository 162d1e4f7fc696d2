/** A part of a line of code; null: in the colour of text. */
export interface CodeToken {
  readonly text: string
  readonly colour: string | null
}

/** What is longer is not coloured: this runs where the page runs. */
const maxCharacters = 40_000

type Lines = readonly (readonly CodeToken[])[]

/** Rows of a list come back when somebody scrolls: what was coloured last is kept, by file and text. */
const KEPT = 100
const known = new Map<string, Promise<Lines | null>>()

/** The lines of a piece of code in the colours of its file's language; null where there are none for it. */
export function codeTokens(path: string, code: string): Promise<Lines | null> {
  const key = `${path}\n${code}`
  const lines = known.get(key) ?? colour(path, code)
  known.delete(key)
  known.set(key, lines)
  const [oldest] = known.keys()
  if (known.size > KEPT && oldest !== undefined) known.delete(oldest)
  return lines
}

async function colour(path: string, code: string): Promise<Lines | null> {
  if (code.length > maxCharacters) return null
  // Large, and wanted only once there is something to colour.
  const [{ getFiletypeFromFileName, getSharedHighlighter }, { diffTheme }] = await Promise.all([
    import('@pierre/diffs'),
    import('../../components/diff/diff-theme.ts'),
  ])
  const lang = getFiletypeFromFileName(path)
  if (lang === 'text') return null
  const theme = diffTheme().light
  const highlighter = await getSharedHighlighter({ themes: [theme], langs: [lang], preferredHighlighter: 'shiki-js' })
  const { tokens } = highlighter.codeToTokens(code, { lang, theme })
  return tokens.map((line) => line.map(({ content, color }) => ({ text: content, colour: color ?? null })))
}

/** A part of a line that is drawn as one. */
export interface CodePiece extends CodeToken {
  readonly marked: boolean
}

/** The parts of a line, cut where what is marked begins and ends. */
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
