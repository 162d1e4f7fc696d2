import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'

/** Maximum text length in an entry, in characters. */
const maxTextLength = 1024 * 1024
/** Maximum length of all texts of an entry. */
const maxEntryLength = 4 * maxTextLength
const maxDepth = 32

/**
 * Returns the entry as stored: texts are redacted, and cut with a note if too long. Cutting values keeps the line
 * valid JSON.
 */
export function fitEntry(entry: TranscriptEntry, redact: (text: string) => string): TranscriptEntry {
  let left = maxEntryLength
  const fit = (text: string): string => {
    const shown = cutText(redact(text), Math.min(maxTextLength, left))
    left = Math.max(0, left - shown.length)
    return shown
  }
  const fitDeep = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return fit(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > maxDepth) return '[nested too deeply]'
    if (Array.isArray(value)) return value.map((item) => fitDeep(item, depth + 1))
    // A key may be a secret too.
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [fit(key), fitDeep(item, depth + 1)]))
  }
  switch (entry.type) {
    case 'usage':
      return entry
    case 'denied':
      return { ...entry, target: fit(entry.target) }
    case 'home_written':
      return { ...entry, paths: entry.paths.map((path) => fit(path)) }
    case 'tool_call':
      return {
        ...entry,
        target: entry.target === null ? null : fit(entry.target),
        input: fitDeep(entry.input, 0),
        diff: entry.diff && {
          path: fit(entry.diff.path),
          old_text: entry.diff.old_text === null ? null : fit(entry.diff.old_text),
          new_text: fit(entry.diff.new_text),
        },
      }
    case 'question':
      return {
        ...entry,
        text: fit(entry.text),
        ...(entry.options && { options: fitDeep(entry.options, 0) as typeof entry.options }),
      }
    default:
      return { ...entry, text: fit(entry.text) }
  }
}

function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  // Don't cut inside a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(text[max - 1] ?? '') ? max - 1 : max
  return `${text.slice(0, end)}\n[${text.length - end} characters were left out here; the raw log has them]`
}
