import { plainTerminalText } from '../../components/terminal-text.ts'

export interface FilePlace {
  readonly path: string
  readonly line: number
}

/**
 * Matches a relative path with an extension, a line and perhaps a column; no URL and no time of
 * day.
 */
const PLACE =
  /(?<![\w./:\\@-])((?:\.\/)?(?:[\w@+-][\w.@+-]*\/)*[\w@+-][\w.@+-]*\.(?!(?:com|dev|io|net|org):)[A-Za-z]\w*):(\d{1,7})(?![\w.])/g
const maxPlaces = 5

/** Returns the file positions in a program's output, each once, up to `maxPlaces`. */
export function filePlaces(output: string): readonly FilePlace[] {
  const found = new Map<string, FilePlace>()
  for (const [, name = '', line = ''] of plainTerminalText(output).matchAll(PLACE)) {
    const path = name.replace(/^\.\//, '')
    if (!path.includes('node_modules/') && Number(line) > 0) found.set(`${path}:${line}`, { path, line: Number(line) })
    if (found.size === maxPlaces) break
  }
  return [...found.values()]
}
