import type { z } from 'zod'
import { ApiError } from './errors.ts'
import { nearestKey } from './unknown-keys.ts'

interface InputIssue {
  readonly path: string
  readonly message: string
}

/** Parses input by a schema. Throws `validation_failed` with every invalid path, for every kind of client. */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const result = schema.safeParse(input ?? {})
  const issues = result.success
    ? badTextIn(result.data, [])
    : unknownFirst(result.error.issues).flatMap((issue) => placesOf(schema, issue))
  if (result.success && issues.length === 0) return result.data
  const first = issues[0]
  const where = first?.path ? `${first.path}: ` : ''
  throw new ApiError({
    code: 'validation_failed',
    message: `Invalid request: ${where}${first?.message ?? 'it has the wrong shape.'}`,
    details: { issues },
  })
}

/** A misspelt key explains why the right one is missing. */
const unknownFirst = (issues: readonly z.core.$ZodIssue[]) =>
  issues.toSorted((a, b) => Number(b.code === 'unrecognized_keys') - Number(a.code === 'unrecognized_keys'))

/** Returns the paths of an issue. An unknown key is its own path, not its whole object. */
function placesOf(schema: z.ZodType, issue: z.core.$ZodIssue): readonly InputIssue[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path.join('.'), message: issue.message }]
  return issue.keys.map((key) => {
    const nearest = nearestKey(schema, issue.path, key)
    const message = `Unknown field.${nearest === null ? '' : ` Did you mean ${nearest}?`}`
    return { path: [...issue.path, key].join('.'), message }
  })
}

/** Finds invalid text: NUL, which no path, name, argument or environment may contain; terminal input (`data`) may. */
function badTextIn(value: unknown, path: readonly string[]): readonly InputIssue[] {
  if (typeof value === 'string') {
    if (value.includes('\0')) return [{ path: path.join('.'), message: "Text can't contain the character NUL." }]
    // A lone surrogate can't be stored as UTF-8, so the text read later would differ.
    return value.isWellFormed() ? [] : [{ path: path.join('.'), message: "Text can't contain half of a character." }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => {
    if (key === 'data' && path.length === 0) return []
    return [...badTextIn(key, [...path, 'key']), ...badTextIn(item, [...path, key])]
  })
}
