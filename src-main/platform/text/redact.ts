import { RE2JS } from 're2js'
import { builtInRules, literalRule } from './redact-rules.ts'
import type { RedactionRule, Span } from './redact-rules.ts'

/** The replacement of a secret. */
export const redacted = '[redacted]'

/** A redaction pattern that `validateRedactionPattern` refuses. */
export class RedactionPatternError extends Error {
  override readonly name = 'RedactionPatternError'
  readonly code = 'invalid_pattern'
}

/** Bounds the work of one pattern per character. */
const maxPatternLength = 1_000
const maxProgramSize = 5_000

/**
 * Returns why a pattern can't be used, in a sentence for people, or null. Patterns are RE2's: no look-around, no
 * back-references.
 */
export function validateRedactionPattern(pattern: string): string | null {
  if (pattern.length > maxPatternLength) return `A pattern has at most ${maxPatternLength} characters.`
  try {
    const compiled = RE2JS.compile(pattern)
    if (compiled.programSize() > maxProgramSize) return 'The pattern is too large: use smaller repeat counts.'
    return compiled.test('') ? 'The pattern matches the empty text, so it would match everywhere.' : null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Creates the function that hides secrets: those with a known shape, the literal ones, and matches of the patterns;
 * in time linear in the text for all patterns. Throws `RedactionPatternError` for an invalid pattern, because without
 * it secrets would be shown (invariant I11).
 */
export function createRedactor(patterns: readonly string[], secrets: readonly string[] = []): (text: string) => string {
  const literals = literalRule(secrets)
  const rules = [...builtInRules, ...(literals ? [literals] : []), ...patterns.map(patternRule)]
  // All rules see the original text, so that one rule's replacement can't hide the rest of a secret from another.
  return (text) =>
    replaceSpans(
      text,
      rules.flatMap((rule) => rule(text)),
    )
}

/** Creates the function that hides these secrets only. */
export function createLiteralRedactor(secrets: readonly string[]): (text: string) => string {
  const rule = literalRule(secrets)
  return (text) => (rule ? replaceSpans(text, rule(text)) : text)
}

function patternRule(pattern: string): RedactionRule {
  const problem = validateRedactionPattern(pattern)
  if (problem !== null) throw new RedactionPatternError(problem)
  const compiled = RE2JS.compile(pattern)
  return (text) => (compiled.test(text) ? findSpans(compiled, text) : [])
}

/**
 * Each search is linear, but a pattern may scan the whole rest for each match, which makes all matches together
 * quadratic (`a[^b]*b|a` on `aaaa…`). So only this many matches are searched in the whole text; then each line is
 * searched separately, and after this many in one line, the rest of it is hidden.
 */
const maxMatches = 64

function findSpans(compiled: RE2JS, text: string): readonly Span[] {
  const { spans, resume } = findSome(compiled, text, 0)
  if (resume === null) return spans
  const all = [...spans]
  for (let start = resume; start < text.length;) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline + 1
    const line = findSome(compiled, text.slice(start, end), start)
    all.push(...line.spans)
    if (line.resume !== null && line.spans.length > 0)
      all.push({ start: line.resume, end: newline === -1 ? end : newline })
    start = end
  }
  return all
}

/** Returns the first matches; `resume` is where to continue if there may be more. Positions are moved by `offset`. */
function findSome(compiled: RE2JS, text: string, offset: number): { spans: Span[]; resume: number | null } {
  const spans: Span[] = []
  const matcher = compiled.matcher(text)
  for (let count = 0; count < maxMatches; count++) {
    if (!matcher.find()) return { spans, resume: null }
    if (matcher.end() > matcher.start()) spans.push({ start: offset + matcher.start(), end: offset + matcher.end() })
  }
  return { spans, resume: offset + matcher.end() }
}

function replaceSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text
  const pieces: string[] = []
  let shown = 0
  let hiddenTo = -1
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    if (span.start >= hiddenTo) {
      pieces.push(text.slice(shown, span.start), redacted)
    }
    hiddenTo = Math.max(hiddenTo, span.end)
    shown = hiddenTo
  }
  return pieces.join('') + text.slice(shown)
}
