import { joined } from '../../platform/text/line-buffer.ts'

/** One line of a byte stream, without its line end. */
export interface SplitLine {
  readonly text: string
  /** Number of bytes of an overlong line that were left out; 0 for a whole line. */
  readonly omittedBytes: number
}

export interface LineSplitter {
  /** Returns the lines that these bytes complete. */
  push(bytes: Uint8Array): readonly SplitLine[]
  /** Returns the incomplete line at the end of the stream, if any. */
  end(): readonly SplitLine[]
}

/** A tool result with an image is one line of several MB; 10 MB was too small. */
export const maxLineBytes = 32 * 1024 * 1024
/** Bytes kept of a line longer than the limit. */
export const keptOfOverlongLine = 64 * 1024

/**
 * Splits bytes into lines, independent of chunk boundaries. Decodes whole lines, because a chunk may end inside a
 * character. Empty lines are left out. Memory is bounded by `maxBytes`.
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
    const whole = joined(parts)
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
      // Copy, because the caller may reuse the buffer before the line is complete.
      add(new Uint8Array(bytes.subarray(from)))
      return lines
    },
    end: take,
  }
}
