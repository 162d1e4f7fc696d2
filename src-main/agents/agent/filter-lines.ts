const newline = 0x0a
const maxLine = 64 * 1024
const empty = Buffer.alloc(0)

/** Removes lines from a byte stream. */
export interface LineFilter {
  /** What it returns may share the chunk's memory. */
  push(chunk: Uint8Array): Buffer
  flush(): Buffer
}

/**
 * Creates a filter of the lines with a given start that `isRemoved` takes, without their end. Only a line with this
 * start is held back until its end, of at most 64 KiB; everything else passes at once.
 */
export function createLineFilter(start: string, isRemoved: (line: string) => boolean): LineFilter {
  const opening = Buffer.from(start)
  const startsLikeOne = (line: Buffer): boolean =>
    line.subarray(0, opening.length).equals(opening.subarray(0, Math.min(line.length, opening.length)))
  let heldBack: Buffer = empty
  /** The next bytes continue a line of output. */
  let inOutput = false
  const take = (): Buffer => {
    const all = heldBack
    heldBack = empty
    return all
  }
  /** Whether no line of the chunk, and no beginning of one at its end, is to be looked at: nearly always. */
  const isOther = (chunk: Buffer): boolean => {
    const last = chunk.lastIndexOf(newline) + 1
    const startsAtEnd = last < chunk.length && (last > 0 || !inOutput) && startsLikeOne(chunk.subarray(last))
    return heldBack.length === 0 && !startsAtEnd && !chunk.includes(opening)
  }
  return {
    push(chunk) {
      const all = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
      if (isOther(all)) {
        if (all.length > 0) inOutput = all.at(-1) !== newline
        return all
      }
      const passed: Buffer[] = []
      let rest = heldBack.length === 0 ? Buffer.from(chunk) : Buffer.concat([take(), chunk])
      while (rest.length > 0) {
        const end = rest.indexOf(newline)
        const line = end === -1 ? rest : rest.subarray(0, end + 1)
        if (!inOutput && startsLikeOne(line)) {
          if (end === -1 && line.length <= maxLine) {
            heldBack = line
            break
          }
          if (end !== -1 && isRemoved(line.toString('utf8').trimEnd())) {
            rest = rest.subarray(line.length)
            continue
          }
        }
        passed.push(line)
        inOutput = end === -1
        rest = rest.subarray(line.length)
      }
      return passed.length === 0 ? empty : Buffer.concat(passed)
    },
    flush() {
      const last = take()
      return last.indexOf(opening) === 0 && isRemoved(last.toString('utf8').trimEnd()) ? empty : last
    },
  }
}
