import type { z } from 'zod'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { parseJson } from '../../src-shared/lang/parse-json.ts'
import { invalidInput } from '../domain/refusal.ts'

/** A page of a list with an opaque cursor for the next one. */
export interface Page<T> {
  readonly items: T[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** Returns the first `limit` items. Callers query one more, which shows whether there is a next page. */
export function pageOf<T>(found: readonly T[], limit: number, cursorOf: (last: T) => unknown): Page<T> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  const has_more = found.length > limit
  return {
    items,
    has_more,
    next_cursor:
      has_more && last !== undefined ? Buffer.from(JSON.stringify(cursorOf(last))).toString('base64url') : null,
  }
}

/** Decodes a cursor; returns null without one. Throws `validation_failed` for a cursor of another list. */
export function cursorFor<T>(shape: z.ZodType<T>, cursor: string | undefined): T | null {
  if (cursor === undefined) return null
  const parsed = shape.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString('utf8')))
  if (parsed.success) return parsed.data
  const message = 'Invalid cursor. Leave it out to start from the beginning.'
  throw new ApiError(invalidInput('cursor', message))
}
