import { plainTerminalText } from '../../components/terminal-text.ts'
import { escapeControls } from '../../../src-shared/lang/hidden-characters.ts'

const MOST = 280
/** Patterns of lines that report an error, the most specific first. */
const trouble = [
  /^→ /,
  /^\w*(?:error|exception)\b/i,
  /^(?:[✗✕×]|not ok\b|-*\s?fail)/i,
  /\b(?:error|fail(?:ed|ure|s)?|expected|panicked|not found|cannot)\b|[✗✕×]/i,
]

/**
 * Returns the most informative line of a failed command's output: one that reports an error, else
 * the last.
 */
export function firstMeaningfulLine(output: string): string | null {
  const lines = plainTerminalText(output)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const found = trouble.flatMap((sign) => lines.find((line) => sign.test(line)) ?? [])[0]
  const line = found ?? lines.at(-1)
  return line === undefined ? null : shortened(line.replace(/^→ /, ''))
}

/** Returns the beginning of a text on one line. */
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
