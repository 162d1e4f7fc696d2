import { wholeCharacters } from './line-hold.ts'

/** Keeps the end of what flows by. */
export interface OutputTail {
  push(chunk: Uint8Array): void
  /** The last bytes as text: whole characters, and from the beginning of a line where one is near. */
  text(): string
}

/** Keeps the last `max` bytes; its own memory stays below four times that. */
export function createOutputTail(max: number): OutputTail {
  let kept: Uint8Array[] = []
  let size = 0
  return {
    push(chunk) {
      // A copy: the caller may fill the same memory anew.
      const end = Buffer.from(chunk.subarray(Math.max(0, chunk.length - 2 * max)))
      kept.push(end)
      size += end.length
      if (size <= 2 * max) return
      // A little more than is shown, so that `text` still sees that something was left out.
      const all = Buffer.concat(kept)
      kept = [Buffer.from(all.subarray(Math.max(0, all.length - max - 4)))]
      size = kept[0]?.length ?? 0
    },
    text() {
      const all = Buffer.concat(kept)
      const whole = all.subarray(0, wholeCharacters(all))
      if (whole.length <= max) return whole.toString('utf8')
      const tail = whole.subarray(whole.length - max)
      return tail.toString('utf8', beginning(tail))
    },
  }
}

/** Where to begin after a cut: at a line if one begins soon (half a line may be half a secret), else at a whole character. */
function beginning(bytes: Buffer): number {
  const newline = bytes.subarray(0, bytes.length / 5).indexOf(0x0a)
  if (newline !== -1) return newline + 1
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return start
}
