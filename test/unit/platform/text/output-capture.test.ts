import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createOutputCapture } from '../../../../src-main/platform/text/output-capture.ts'
import { createRedactor, redacted } from '../../../../src-main/platform/text/redact.ts'

const secret = 'correct-horse-battery'
const redact = createRedactor([], [secret])
const note = /^\[([\d,]+) bytes before this were left out\]\n/

/** Captures an output that arrives in the given pieces. */
function captured(pieces: readonly Uint8Array[], maxBytes: number, hide = (text: string) => text) {
  const capture = createOutputCapture({ maxBytes, redact: hide })
  for (const piece of pieces) capture.push(piece)
  const text = capture.text()
  const leftOut = Number(note.exec(text)?.[1]?.replaceAll(',', '') ?? 0)
  return { text, leftOut, shown: text.replace(note, ''), all: Buffer.concat(pieces) }
}

/** An output of some thousand to some hundred thousand bytes, made of repeated parts. */
const outputs = (parts: fc.Arbitrary<Uint8Array>) =>
  fc
    .array(fc.tuple(parts, fc.nat(3_000)), { maxLength: 12 })
    .map((list) =>
      list.map(([part, times]) => Buffer.concat(Array.from({ length: times }, () => part)).subarray(0, 60_000)),
    )
const anyBytes = fc.uint8Array({ maxLength: 40 })
const anyText = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => Buffer.from(text.toWellFormed()))
const limits = fc.integer({ min: 128, max: 10_240 })
const effort = { numRuns: 150 }

describe('a capture of an output', () => {
  it('shows a short output whole, without a note', () => {
    const capture = createOutputCapture({ maxBytes: 200, redact })
    capture.push(Buffer.from('one\n'))
    capture.push(Buffer.from(`two ${secret}`))
    expect(capture.text()).toBe(`one\ntwo ${redacted}`)
  })

  it('says how much of a long output is hidden, and begins with a line', () => {
    const lines = Array.from({ length: 100_000 }, (_, line) => Buffer.from(`line ${line}\n`))
    const { text, shown, all, leftOut } = captured(lines, 1_024)
    expect(text).toMatch(/^\[1,087,9\d\d bytes before this were left out\]\nline 999\d\d\n(.*\n)*line 99999\n$/)
    expect(leftOut).toBe(all.length - Buffer.byteLength(shown))
  })

  it('stays within its limit, even for invalid UTF-8 or redactions that grow', () => {
    const growing = (text: string) => text.replaceAll(/[a-f]+/g, redacted)
    fc.assert(
      fc.property(outputs(fc.oneof(anyBytes, anyText)), limits, (pieces, maxBytes) => {
        const { text } = captured(pieces, maxBytes, growing)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes)
        expect(text.isWellFormed()).toBe(true)
      }),
      effort,
    )
  })

  it('shows the end, cuts no character, and counts hidden bytes exactly', () => {
    fc.assert(
      fc.property(outputs(fc.oneof(anyBytes, anyText)), limits, (pieces, maxBytes) => {
        const { shown, leftOut, all } = captured(pieces, maxBytes)
        expect(shown).toBe(all.toString('utf8', leftOut))
        expect(all.toString('utf8').endsWith(shown)).toBe(true)
      }),
      effort,
    )
  })

  it('uses nearly all of its limit for an ordinary output', () => {
    fc.assert(
      fc.property(outputs(anyText), limits, (pieces, maxBytes) => {
        const { shown, leftOut } = captured(pieces, maxBytes)
        if (leftOut > 0) expect(Buffer.byteLength(shown)).toBeGreaterThan((maxBytes - 64) * (1 - 2 / 16) - 8)
      }),
      effort,
    )
  })

  it('shows no part of a secret, wherever the cuts are', () => {
    const said = fc.oneof(fc.constant(Buffer.from(secret)), anyText)
    fc.assert(
      fc.property(outputs(said), limits, fc.nat(40), (pieces, maxBytes, shift) => {
        const { shown, all } = captured([...pieces, Buffer.alloc(shift, '.')], maxBytes, redact)
        const whole = redact(all.toString('utf8'))
        expect(whole.endsWith(shown)).toBe(true)
        expect(shown).not.toContain(secret.slice(-6))
      }),
      effort,
    )
  })

  it('hides a secret that arrives in pieces, and all of one larger than the limit', () => {
    const halves = [Buffer.from(secret.slice(0, 7)), Buffer.from(`${secret.slice(7)}\n`)]
    expect(captured(halves, 200, redact).text).toBe(`${redacted}\n`)
    const key = `eyJ${'a1'.repeat(4_000)}.${'b2'.repeat(4_000)}.${'c3'.repeat(200)}`
    const before = Buffer.from('a line\n'.repeat(10_000))
    expect(captured([before, Buffer.from(key)], 1_000, redact)).toMatchObject({
      shown: '',
      leftOut: before.length + key.length,
    })
    expect(captured([before, Buffer.from(`${key}\nthe end\n`)], 1_000, redact).shown).toBe('the end\n')
  })

  it('can be read while the output continues', () => {
    const capture = createOutputCapture({ maxBytes: 200, redact })
    capture.push(Buffer.from('€').subarray(0, 1))
    expect(capture.text()).toBe('\ufffd')
    capture.push(Buffer.from('€').subarray(1))
    expect(capture.text()).toBe('€')
    capture.push(Buffer.alloc(1_000_000, 'x'))
    capture.push(Buffer.from('end\n'))
    expect(capture.text()).toMatch(/^\[999,871 bytes before this were left out\]\nx{132}end\n$/)
  })
})
