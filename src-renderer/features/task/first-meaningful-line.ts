import { plainTerminalText } from '../../components/terminal-text.ts'
import { escapeControls } from '../../../src-shared/lang/hidden-characters.ts'

const MOST = 280
/** What lines that tell of trouble begin with or hold, the most telling first. */
const trouble = [
  /^→ /,
  /^\w*(?:error|exception)\b/i,
  /^(?:[✗✕×]|not ok\b|-*\s?fail)/i,
  /\b(?:error|fail(?:ed|ure|s)?|expected|panicked|not found|cannot)\b|[✗✕×]/i,
]

/** The line of a failed command's output that says most: one that speaks of trouble, else the last. */
export function firstMeaningfulLine(output: string): string | null {
  const lines = plainTerminalText(output)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const found = trouble.flatMap((sign) => lines.find((line) => sign.test(line)) ?? [])[0]
  const line = found ?? lines.at(-1)
  return line === undefined ? null : shortened(line.replace(/^→ /, ''))
}

/** The beginning of a text, in one line. */
export function excerpt(text: string): string {
  return shortened(
    escapeControls(text)
      .trim()
      .split(/\n\s*\n/, 1)[0]
      ?.replaceAll(/\s+/g, ' ') ?? '',
  )
}

function shortened(line: string): string {
  return line.length <= MOST ? line : `${line.slice(0, MOST - 1).trimEnd()}…`
}
