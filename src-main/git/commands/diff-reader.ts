import { createPatchReader } from './patch-reader.ts'
import type { PatchLimits, PatchPart } from './patch-parts.ts'
import { parseRaw } from './raw-changes.ts'
import type { RawChange } from './raw-changes.ts'

const endOfRaw = Buffer.from([0, 0])

/** Creates a reader of the output of `git diff -z --raw --patch`: the list of changes first, then their patches. */
export function createDiffReader(limits: PatchLimits, wants: ((change: RawChange) => boolean) | null) {
  let pieces: Buffer[] = []
  let changes: readonly RawChange[] = []
  let reader: ReturnType<typeof createPatchReader> | null = null

  const startPatch = (raw: Buffer): typeof reader => {
    changes = parseRaw(raw)
    const numbers = new Map(changes.map(({ header }, number) => [header, number]))
    const wanted = wants === null ? null : changes.findIndex(wants)
    return wanted === -1 ? null : createPatchReader((header) => numbers.get(header), limits, wanted)
  }

  return {
    /** Returns `enough` if no later output is wanted. */
    take(chunk: Buffer): 'more' | 'enough' {
      if (reader) return reader.take(chunk)
      const isSplit = chunk[0] === 0 && pieces.at(-1)?.at(-1) === 0
      pieces.push(chunk)
      if (!isSplit && !chunk.includes(endOfRaw)) return 'more'
      const seen = Buffer.concat(pieces)
      const end = seen.indexOf(endOfRaw)
      pieces = []
      reader = startPatch(seen.subarray(0, end))
      return reader ? reader.take(seen.subarray(end + 2)) : 'enough'
    },
    /** Returns the changes with their parts; a change without a part was undone while git was reading. */
    end(): readonly (RawChange & { readonly part: PatchPart })[] {
      const parts = reader?.end()
      return changes.flatMap((change, number) => {
        const part = parts?.get(number)
        return part ? [{ ...change, part }] : []
      })
    },
    /** Returns all changes, wanted or not. */
    changes: (): readonly RawChange[] => changes,
  }
}
