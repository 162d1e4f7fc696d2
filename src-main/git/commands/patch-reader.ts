import { createPatchParts } from './patch-parts.ts'
import type { OpenPart, PatchLimits, PatchPart } from './patch-parts.ts'
import { orNothing } from './raw-changes.ts'

const newline = 0x0a
const [plus, minus, backslash] = [0x2b, 0x2d, 0x5c]
const nothing: Buffer = Buffer.alloc(0)

/**
 * Splits git's patch into files as it streams, and counts their lines. `fileOf` maps the `diff --git` line to the
 * file of a part. With `only`, reads that file alone.
 */
export function createPatchReader(
  fileOf: (header: string) => number | undefined,
  limits: PatchLimits,
  only: number | null,
) {
  const { parts, ...open } = createPatchParts(limits)
  const lines = createHunkLines()
  /** The start of a heading whose end has not arrived. */
  let carry = nothing

  const startPart = (line: string): 'more' | 'enough' => {
    const file = fileOf(line)
    // git writes a change of type (a file that became a symlink) as a deletion and an addition.
    if (file !== undefined && open.current()?.file === file) return 'more'
    open.finish()
    if (only !== null && parts.has(only)) return 'enough'
    if (file !== undefined && (only === null || file === only)) open.open(file)
    return 'more'
  }

  return {
    /** Returns `enough` if no later output is wanted. */
    take(chunk: Buffer): 'more' | 'enough' {
      const data = carry.length === 0 ? chunk : Buffer.concat([carry, chunk])
      carry = nothing
      let from = 0
      let at = 0
      while (at < data.length) {
        at = lines.count(data, at, open.current())
        if (at >= data.length) break
        const end = data.indexOf(newline, at)
        if (end < 0) {
          carry = Buffer.from(data.subarray(at))
          break
        }
        const line = data.toString('latin1', at, end)
        if (line.startsWith('diff --git ')) {
          open.append(data.subarray(from, at))
          from = at
          if (startPart(line) === 'enough') return 'enough'
        } else if (!lines.begin(line)) readHeading(line, open.current())
        at = end + 1
      }
      open.append(data.subarray(from, at))
      return 'more'
    },
    /** Returns the files that had a part, by the number that `fileOf` gave them. */
    end(): ReadonlyMap<number, PatchPart> {
      open.append(carry)
      carry = nothing
      open.finish()
      return parts
    },
  }
}

/** Follows the lines of a hunk by the counts in its heading, so that no content line is taken for a heading. */
function createHunkLines() {
  let oldLeft = 0
  let newLeft = 0
  let inLine = false
  return {
    /** Returns whether the line is a hunk's heading. */
    begin(line: string): boolean {
      const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
      if (!hunk) return false
      oldLeft = Number(hunk[1] ?? 1)
      newLeft = Number(hunk[2] ?? 1)
      return true
    },
    /** Counts the lines of the hunk from `at` on, each by its first byte; returns where they or the data end. */
    count(data: Buffer, at: number, part: OpenPart | null): number {
      let next = at
      let [added, deleted] = [0, 0]
      while (next < data.length && (inLine || oldLeft > 0 || newLeft > 0)) {
        const first = data[next]
        if (!inLine && first !== backslash) {
          if (first !== plus) oldLeft -= 1
          if (first !== minus) newLeft -= 1
          if (first === plus) added += 1
          if (first === minus) deleted += 1
        }
        // Most lines are short, so checking each byte is faster than a search for the next line end.
        while (next < data.length && data[next] !== newline) next += 1
        inLine = next === data.length
        next += 1
      }
      if (part) {
        part.additions += added
        part.deletions += deleted
      }
      return Math.min(next, data.length)
    },
  }
}

function readHeading(line: string, part: OpenPart | null): void {
  if (!part) return
  const blob = /^index [0-9a-f]+\.\.([0-9a-f]+)/.exec(line)?.[1]
  if (blob !== undefined) part.new_blob = orNothing(blob)
  if (line.startsWith('Binary files ')) part.binary = true
}
