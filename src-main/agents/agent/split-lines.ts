/** One line of a byte stream, without its line end. */
export interface SplitLine {
  readonly text: string
  /** Bytes of an overlong line that were left out; 0 for a whole line. */
  readonly omittedBytes: number
}

export interface LineSplitter {
  /** The lines that these bytes complete. */
  push(bytes: Uint8Array): readonly SplitLine[]
  /** The half line at the end of the stream, if there is one. */
  end(): readonly SplitLine[]
}

/** A tool result with an image in it is one line of several MB; 10 MB was too little for others. */
export const maxLineBytes = 32 * 1024 * 1024
/** What is kept of a line that is longer than the limit. */
export const keptOfOverlongLine = 64 * 1024

/**
 * Cuts bytes into lines, the same ones however the bytes are chunked. Characters are decoded per line,
 * so that a chunk may end inside one. Empty lines are left out. Memory is bounded by `maxBytes`.
 */
export function createLineSplitter(maxBytes: number = maxLineBytes): LineSplitter {
  let parts: Uint8Array[] = []
  let length = 0

  const add = (bytes: Uint8Array): void => {
    const room = maxBytes - length
    if (room > 0 && bytes.length > 0) parts.push(bytes.subarray(0, room))
    length += bytes.length
  }
  const take = (): readonly SplitLine[] => {
    const whole = Buffer.concat(parts)
    const omitted = length > maxBytes
    const line = omitted ? whole.subarray(0, keptOfOverlongLine) : whole
    const omittedBytes = omitted ? length - line.length : 0
    parts = []
    length = 0
    const text = line.toString('utf8').replace(/\r$/, '')
    return text === '' ? [] : [{ text, omittedBytes }]
  }
  return {
    push(bytes) {
      const lines: SplitLine[] = []
      let from = 0
      for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
        add(bytes.subarray(from, at))
        lines.push(...take())
        from = at + 1
      }
      // A copy: the caller may fill the same memory anew before the line is complete.
      add(Uint8Array.from(bytes.subarray(from)))
      return lines
    },
    end: take,
  }
}
