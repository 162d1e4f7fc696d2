import { createByteTail } from './byte-tail.ts'

/** Keeps the end of an output in bounded memory, to be shown without secrets. */
export interface OutputCapture {
  push(bytes: Uint8Array): void
  /** What was last said, redacted, of whole characters; with a note first of how many bytes came before. */
  text(): string
}

export interface OutputCaptureOptions {
  /** Of UTF-8 that `text` has at most, the note included; at least 128. */
  readonly maxBytes: number
  readonly redact: (text: string) => string
}

/** Kept before what is shown, so that a secret that reaches into it is seen as a whole. */
const contextBytes = 32 * 1024
/** How many places are tried for the cut before all is left out. */
const cuts = 16

/** Redacts only when asked for the text, so that a flood costs no more than copying its end. */
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
        // If the halves make the whole, neither a secret nor a character was cut in two.
        if (redact(kept.toString('utf8', 0, cut)) + shown === whole) return note + shown
      }
      return noteOf(dropped + kept.length)
    },
  }
}

const newline = 0x0a

/** Where to begin, from the most that may be shown to less: at lines where one begins near, else at characters. */
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
