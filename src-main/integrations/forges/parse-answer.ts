import type { z } from 'zod'
import { ForgeError } from '../../ports/forges.ts'

/** Reads a forge's answer. Throws `ForgeError` where it isn't what the forge's description says. */
export function parseAnswer<T>(schema: z.ZodType<T>, json: unknown, label: string): T {
  const result = schema.safeParse(json)
  if (result.success) return result.data
  throw new ForgeError(
    'unreachable',
    `${label} answered with something else than its API does. Check base_url and platform.`,
  )
}

/** Reads the items of a list and leaves out unreadable ones: one odd item doesn't hide the others. */
export function parseItems<T>(schema: z.ZodType<T>, items: readonly unknown[]): readonly T[] {
  return items.flatMap((item) => {
    const result = schema.safeParse(item)
    return result.success ? [result.data] : []
  })
}
