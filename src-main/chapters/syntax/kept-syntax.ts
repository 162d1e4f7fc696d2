import { createHash } from 'node:crypto'
import type { HunkSyntax, SyntaxRequest } from '../rules/syntax.ts'

/** In characters of names, about 32 MB. */
const maxWeight = 8 * 1024 * 1024

/** What was read of files, by their contents: after a push only files that it changes are parsed again. */
export interface KeptSyntax {
  get(request: SyntaxRequest): readonly HunkSyntax[] | null
  put(request: SyntaxRequest, hunks: readonly HunkSyntax[]): void
}

export function createKeptSyntax(limit = maxWeight): KeptSyntax {
  const kept = new Map<string, { readonly hunks: readonly HunkSyntax[]; readonly weight: number }>()
  let total = 0
  const remove = (key: string): void => {
    total -= kept.get(key)?.weight ?? 0
    kept.delete(key)
  }
  return {
    get: (request) => {
      const key = keyOf(request)
      const found = kept.get(key)
      if (!found) return null
      // The last that was used is the last to be pushed out.
      kept.delete(key)
      kept.set(key, found)
      return found.hunks
    },
    put: (request, hunks) => {
      const key = keyOf(request)
      remove(key)
      const weight = weightOf(hunks)
      kept.set(key, { hunks, weight })
      total += weight
      for (const oldest of kept.keys()) {
        if (total <= limit) break
        remove(oldest)
      }
    },
  }
}

/** The ids of hunks are made of path, modes and lines. */
function keyOf({ old_text, new_text, hunks }: SyntaxRequest): string {
  const hash = createHash('sha256')
  for (const text of [old_text, new_text]) hash.update(text === null ? '-' : `+${text.length} `).update(text ?? '')
  for (const { id } of hunks) hash.update(id)
  return hash.digest('base64')
}

function weightOf(hunks: readonly HunkSyntax[]): number {
  const sizeOf = (names: readonly string[]): number => names.reduce((sum, name) => sum + name.length + 8, 0)
  return hunks.reduce(
    (sum, { defines, old_names, new_names, uses }) =>
      sum + 200 + sizeOf(defines) + sizeOf(old_names) + sizeOf(new_names) + sizeOf(uses),
    0,
  )
}
