/** Splits a byte stream at line ends. */
export interface LineBuffer {
  /** Takes a chunk and returns the complete lines so far (none: empty). */
  push(chunk: Uint8Array): Uint8Array
  /** Returns the unfinished last line. */
  flush(): Uint8Array
}

const newline = 0x0a
const empty = new Uint8Array(0)

/**
 * Holds back an unfinished line, so that two outputs that share a log don't split each other's lines. A line longer
 * than `max` bytes is released in parts, each ending with a complete character.
 */
export function createLineBuffer(max = 64 * 1024): LineBuffer {
  let held: Uint8Array[] = []
  let size = 0
  const take = (): Buffer => {
    const all = joined(held)
    held = []
    size = 0
    return all
  }
  const hold = (bytes: Uint8Array): void => {
    if (bytes.length === 0) return
    held.push(bytes)
    size += bytes.length
  }
  return {
    push(chunk) {
      const end = chunk.lastIndexOf(newline) + 1
      hold(chunk.subarray(0, end))
      const lines = end > 0 ? take() : empty
      // A copy, because the caller may reuse the memory before the line is complete.
      hold(Buffer.from(chunk.subarray(end)))
      if (size <= max) return lines
      const all = take()
      const cut = wholeCharacters(all)
      hold(all.subarray(cut))
      return Buffer.concat([lines, all.subarray(0, cut)])
    },
    flush: take,
  }
}

/** Joins parts; one alone isn't copied. */
export function joined(parts: readonly Uint8Array[]): Buffer {
  const [first] = parts
  if (parts.length !== 1 || first === undefined) return Buffer.concat(parts)
  return Buffer.from(first.buffer, first.byteOffset, first.length)
}

/** Returns the length without an incomplete character at the end. */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
