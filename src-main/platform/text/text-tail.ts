import { wholeCharacters } from './line-buffer.ts'
import { createByteTail } from './byte-tail.ts'

/** Keeps the end of a text stream. */
export interface TextTail {
  push(chunk: Uint8Array): void
  /** Returns the last bytes as text: complete characters, starting at a line if one is near. */
  text(): string
}

/** Keeps the last `max` bytes in memory of about twice that. */
export function createTextTail(max: number): TextTail {
  // Slightly more than is shown, so that `text` notices that something was left out.
  const end = createByteTail(max + 4)
  return {
    push: (chunk) => end.push(chunk),
    text() {
      const all = end.bytes()
      const whole = all.subarray(0, wholeCharacters(all))
      if (whole.length <= max) return whole.toString('utf8')
      const tail = whole.subarray(whole.length - max)
      return tail.toString('utf8', beginning(tail))
    },
  }
}

/**
 * Returns where to begin after a cut: at a line if one begins soon (half a line may be half a secret), else at a
 * complete character.
 */
function beginning(bytes: Buffer): number {
  const newline = bytes.subarray(0, bytes.length / 5).indexOf(0x0a)
  if (newline !== -1) return newline + 1
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return start
}
