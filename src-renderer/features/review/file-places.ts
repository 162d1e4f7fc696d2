import { plainTerminalText } from '../../components/terminal-text.ts'

export interface FilePlace {
  readonly path: string
  readonly line: number
}

/** A path below the worktree with an ending, a line after it, and perhaps a column; no address and no time of day. */
const PLACE =
  /(?<![\w./:\\@-])((?:\.\/)?(?:[\w@+-][\w.@+-]*\/)*[\w@+-][\w.@+-]*\.(?!(?:com|dev|io|net|org):)[A-Za-z]\w*):(\d{1,7})(?![\w.])/g
const maxPlaces = 5

/** The lines of files that a program's output names, each once, as far as they are worth a row. */
export function filePlaces(output: string): readonly FilePlace[] {
  const found = new Map<string, FilePlace>()
  for (const [, name = '', line = ''] of plainTerminalText(output).matchAll(PLACE)) {
    const path = name.replace(/^\.\//, '')
    if (!path.includes('node_modules/') && Number(line) > 0) found.set(`${path}:${line}`, { path, line: Number(line) })
    if (found.size === maxPlaces) break
  }
  return [...found.values()]
}
