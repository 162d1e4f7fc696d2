import { plainTerminalText } from '../../components/terminal-text.ts'

const MOST = 280
const trouble = /\b(?:error|fail(?:ed|ure|s)?|\w*error|exception|expected|panicked|not found|cannot)\b|[✗✕×]/i

/** The line of a failed command's output that says most: the first that speaks of trouble, else the last. */
export function tellingLine(output: string): string | null {
  const lines = plainTerminalText(output)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const line = lines.find((one) => trouble.test(one)) ?? lines.at(-1)
  return line === undefined ? null : shortened(line)
}

/** The beginning of a text, in one line. */
export function firstWords(text: string): string {
  return shortened(
    text
      .trim()
      .split(/\n\s*\n/, 1)[0]
      ?.replaceAll(/\s+/g, ' ') ?? '',
  )
}

function shortened(line: string): string {
  return line.length <= MOST ? line : `${line.slice(0, MOST - 1).trimEnd()}…`
}
