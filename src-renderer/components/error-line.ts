import type { TerminalLine } from './terminal-text.ts'

const failing = /\b(?:errors?|err!|fail(?:s|ed|ure|ures)?|fatal|panic(?:ked)?|exception|traceback)\b|[✗✘✖]/i
const fine = /\b(?:0|no|without) (?:errors?|fail(?:ed|ure|ures)?)\b/i

/** Returns whether a line of output tells of an error: by its words, or because it is red. */
export function isErrorLine(line: TerminalLine): boolean {
  const text = line.map((span) => span.text).join('')
  if (fine.test(text)) return false
  return failing.test(text) || line.some(({ tone, text: part }) => tone === 'red' && part.trim() !== '')
}
