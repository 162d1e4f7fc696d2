import { joined } from './line-buffer.ts'
import { closedKeyEnd, openKeyAt } from './redact-rules.ts'
import { redacted } from './redact.ts'
import { redactAcrossCodes, withoutTerminalCodes } from './terminal-codes.ts'

/** Redacts bytes that arrive in chunks. */
export interface StreamRedactor {
  /** Takes a chunk and returns the bytes that may be written now. */
  push(chunk: Uint8Array): Uint8Array
  /** Returns the rest. */
  flush(): Uint8Array
  /** Returns the rest as it came, with its secrets. */
  takeHeld(): Uint8Array
  /** How many bytes are held back. */
  heldBytes(): number
}

/** Maximum bytes of one line that are held back. */
const maxHeld = 64 * 1024
/** Bytes of a longer line that stay held back, for a secret that begins there. */
const overlap = 8 * 1024

/**
 * Redacts line by line, so that a secret split over chunks or by terminal codes is found; a PEM private key is one
 * secret. A line longer than 64 KB is handled in overlapping parts. Bytes of a part without secrets pass unchanged,
 * also invalid UTF-8.
 */
export function createStreamRedactor(redactPlain: (text: string) => string): StreamRedactor {
  const redact = redactAcrossCodes(redactPlain)
  const held: Uint8Array[] = []
  let size = 0
  const takeHeld = (): Buffer => {
    const all = joined(held)
    held.length = 0
    size = 0
    return all
  }
  const hold = (bytes: Uint8Array): void => {
    if (bytes.length === 0) return
    held.push(bytes)
    size += bytes.length
  }
  /** Takes the complete lines, except those of a private key whose end has not arrived. */
  const takeLines = (): Buffer => {
    const all = takeHeld()
    const open = all.includes('-----BEGIN') ? openKeyIn(all.toString('latin1')) : -1
    if (open < 0) return all
    hold(all.subarray(open))
    return all.subarray(0, open)
  }
  return {
    push(chunk) {
      const lineEnd = Math.max(chunk.lastIndexOf(newline), chunk.lastIndexOf(carriageReturn)) + 1
      hold(chunk.subarray(0, lineEnd))
      const ready = lineEnd > 0 ? redactBytes(takeLines(), redact) : empty
      // A copy, because the caller may reuse the memory before the line is complete.
      hold(Buffer.from(chunk.subarray(lineEnd)))
      if (size <= maxHeld) return ready
      const part = takeHeld()
      const cut = findCut(part, redact)
      hold(part.subarray(cut))
      return Buffer.concat([ready, redactBytes(part.subarray(0, cut), redact)])
    },
    flush: () => redactBytes(takeHeld(), redact),
    takeHeld,
    heldBytes: () => size,
  }
}

/** Redacts the last lines of an output whose other lines are gone: a private key may have begun in those. */
export function redactTail(bytes: Uint8Array, redact: (text: string) => string): Uint8Array {
  const stream = createStreamRedactor(redact)
  const keyEnd = closedKeyEnd(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'))
  const shown = keyEnd > 0 ? [Buffer.from(redacted)] : []
  for (let start = keyEnd; start < bytes.length; start += maxHeld) {
    shown.push(Buffer.from(stream.push(bytes.subarray(start, start + maxHeld))))
  }
  return Buffer.concat([...shown, stream.flush()])
}

/** Like `openKeyAt`; the start of the text if terminal codes hide where the key begins. */
function openKeyIn(text: string): number {
  const start = openKeyAt(text)
  return start < 0 && openKeyAt(withoutTerminalCodes(text)) >= 0 ? 0 : start
}

const newline = 0x0a
const carriageReturn = 0x0d
const empty = new Uint8Array(0)

function redactBytes(bytes: Buffer, redact: (text: string) => string): Uint8Array {
  if (bytes.length === 0) return empty
  const text = bytes.toString('utf8')
  const shown = redact(text)
  return shown === text ? bytes : Buffer.from(shown)
}

/** Returns where to cut without splitting a secret; the whole length if there is no such position. */
function findCut(part: Buffer, redact: (text: string) => string): number {
  const whole = redact(part.toString('utf8'))
  for (let tail = overlap; tail <= overlap * 4; tail += overlap) {
    let cut = part.length - tail
    // Not within a character.
    while (cut > 0 && ((part[cut] ?? 0) & 0xc0) === 0x80) cut--
    const halves = redact(part.toString('utf8', 0, cut)) + redact(part.toString('utf8', cut))
    if (cut > 0 && halves === whole) return cut
  }
  return part.length
}
