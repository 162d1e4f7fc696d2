import { isAbsolute, relative, sep } from 'node:path'
import { escapeHidden } from '../../../src-shared/lang/hidden-characters.ts'

/** The transcript cuts longer texts; the raw log has all. */
const maxText = 200_000
const maxTarget = 200
/** Deeper than any tool's input; keeps malicious input from exhausting the stack here and in the log. */
const maxDepth = 50

/** Clips a text for the transcript. */
export const clip = (text: string): string =>
  text.length > maxText
    ? `${text.slice(0, maxText)}\n… ${text.length - maxText} more characters are in the raw log`
    : text

/** Clips every text inside a value. */
export function clipDeep(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return clip(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return '…'
  if (Array.isArray(value)) return value.map((inner) => clipDeep(inner, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clipDeep(inner, depth + 1)]))
}

/** Returns a text as one line of at most 200 characters, with hidden ones spelled out: people decide by it. */
export function oneLine(text: string): string {
  // The rest of a long text can't show in one line, so it is not processed.
  const line = escapeHidden(
    text
      .slice(0, maxTarget * 4)
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return line.length > maxTarget || text.length > maxTarget * 4 ? `${line.slice(0, maxTarget - 1)}…` : line
}

/** Returns a path below `cwd` relative to it, any other unchanged. */
export function relativeToCwd(path: string, cwd: string | null): string {
  if (cwd === null || !isAbsolute(path)) return path
  const inner = relative(cwd, path)
  const outside = inner === '..' || inner.startsWith(`..${sep}`) || isAbsolute(inner)
  return inner === '' || outside ? path : inner
}

/** Returns whether a value is a text that is not blank. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

/** Returns whether a value is an object. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
