import { createLiteralRedactor } from '../../platform/text/redact.ts'

/**
 * Hides the token in the texts of an answer. Names of fields stay, and numbers: a token that happens to equal one would
 * make the issues unreadable.
 */
export function withoutToken(items: readonly unknown[], token: string): readonly unknown[] {
  const redact = createLiteralRedactor([token])
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return redact(value)
    if (Array.isArray(value)) return value.map(clean)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, clean(inner)]))
  }
  return items.map(clean)
}
