import { createByteTail } from './byte-tail.ts'

/** Keeps the end of an output in bounded memory, to be shown without secrets. */
export interface OutputCapture {
  push(bytes: Uint8Array): void
  /**
   * Returns the end of the output, redacted, in complete characters, preceded by a note of the number of bytes left
   * out.
   */
  text(): string
}

export interface OutputCaptureOptions {
  /** Maximum UTF-8 bytes of `text`, including the note; at least 128. */
  readonly maxBytes: number
  readonly redact: (text: string) => string
}

/** Kept before the shown part, so that a secret across its start is recognised. */
const contextBytes = 32 * 1024
/** Number of cut positions that are tried before everything is left out. */
const cuts = 16

/** Redacts only when `text` is called, so that a flood costs only the copying of its end. */
export function createOutputCapture({ maxBytes, redact }: OutputCaptureOptions): OutputCapture {
  const end = createByteTail(maxBytes + contextBytes)
  return {
    push: (bytes) => end.push(bytes),
    text() {
      const kept = end.bytes()
      const dropped = end.size - kept.length
      const whole = redact(kept.toString('utf8'))
      if (dropped === 0 && Buffer.byteLength(whole) <= maxBytes) return whole
      for (const cut of possibleCuts(kept, maxBytes)) {
        const note = noteOf(dropped + cut)
        const shown = redact(kept.toString('utf8', cut))
        if (note.length + Buffer.byteLength(shown) > maxBytes) continue
        // If the redacted halves equal the redacted whole, the cut splits neither a secret nor a character.
        if (redact(kept.toString('utf8', 0, cut)) + shown === whole) return note + shown
      }
      return noteOf(dropped + kept.length)
    },
  }
}

const newline = 0x0a

/** Yields cut positions from the longest allowed text to shorter ones: line starts if one is near, else characters. */
function* possibleCuts(kept: Buffer, maxBytes: number): Generator<number> {
  const room = Math.min(kept.length, maxBytes - maxNoteBytes)
  const step = Math.ceil(room / cuts)
  for (let from = kept.length - room; from < kept.length; from += step) {
    const line = kept.subarray(from, from + step).indexOf(newline)
    let cut = line === -1 ? from : from + line + 1
    while (cut < from + 3 && ((kept[cut] ?? 0) & 0xc0) === 0x80) cut++
    yield cut
  }
}

const maxNoteBytes = 64

function noteOf(leftOut: number): string {
  return `[${leftOut.toLocaleString('en-US')} bytes before this were left out]\n`
}
