import { escapeHidden } from '../../../../src-shared/lang/hidden-characters.ts'
import { isSource, isTestFile } from '../file-kinds.ts'
import { addedLines, type RiskRule } from './risk.ts'

/** Content that people can’t see as programs do. */
export const hiddenText: RiskRule = (file) =>
  addedLines(file)
    // A mark at the start of a file says how it is encoded.
    .map((added) => (added.line === 1 ? { ...added, text: added.text.replace(/^\ufeff/, '') } : added))
    .filter(({ text }) => escapeHidden(text) !== text)
    .map(({ line, hunk }) => ({ level: 'high', text: 'The line has characters that can’t be seen.', line, hunk }))

/** A merge that was not finished. */
export const conflictMarkers: RiskRule = (file) => {
  const lines = addedLines(file)
  const first = lines.find(({ text }) => /^<{7}(?: |$)/.test(text))
  const hasEnd = lines.some(({ text, line }) => first && line > first.line && /^>{7}(?: |$)/.test(text))
  if (!first || !hasEnd) return []
  return [{ level: 'high', text: 'It has conflict markers.', line: first.line, hunk: first.hunk }]
}

/** Credentials. */
export const secret: RiskRule = (file, { hasSecret }) =>
  addedLines(file)
    .filter(({ text }) => hasSecret(text))
    .map(({ line, hunk }) => ({ level: 'high', text: 'The line looks like a secret.', line, hunk }))

const comment = /^\s*(?:\/\/|\/?\*|#(?!\[)|--|<!--)/
const runsText = [
  /(?<![\w.$])eval\s*\(/,
  /\bnew\s+Function\s*\(/,
  /\b__import__\s*\(/,
  /\bshell\s*=\s*True\b/,
  /\bos\.(?:system|popen)\s*\(/,
  /\bpickle\.loads?\s*\(/,
  /\byaml\.(?:unsafe_load|load\s*\((?![^)]*Safe))/,
  /\bvm\.(?:runIn\w+|Script|compileFunction)\b/,
  /\bchild_process\b/,
  /\bInvoke-Expression\b|\bIEX\s*[($]/,
  /\b(?:curl|wget)\b[^|;\n]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/,
  /\b(?:instance_eval|class_eval)\b/,
  /\bRuntime\.getRuntime\(\)\.exec\b/,
]
/** PHP and Python run text by it; in JavaScript it is what a regular expression does. */
const exec = /(?<![\w.>])exec\s*\(/
const markup = /\bdangerouslySetInnerHTML\b|\bv-html\b|\.innerHTML\s*=(?!=)|\bdocument\.write\s*\(/

/** Text that is run as a program or shown as markup. */
export const dynamicCode: RiskRule = (file) => {
  if (!isSource(file.path) || /\.(?:md|css|s[ac]ss|less)$/i.test(file.path)) return []
  const isTest = isTestFile(file.path)
  const hasExec = /\.(?:py|php)$/i.test(file.path)
  return addedLines(file).flatMap(({ text, line, hunk }) => {
    if (comment.test(text)) return []
    if (runsText.some((pattern) => pattern.test(text)) || (hasExec && exec.test(text)))
      return [{ level: isTest ? ('low' as const) : ('high' as const), text: 'Text is run as a program.', line, hunk }]
    return markup.test(text) ? [{ level: 'low' as const, text: 'Text is shown as markup.', line, hunk }] : []
  })
}
