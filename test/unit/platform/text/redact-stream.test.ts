import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../../../src-main/platform/text/redact.ts'
import { createStreamRedactor, redactTail } from '../../../../src-main/platform/text/redact-stream.ts'

const redact = createRedactor([], ['hunter2secret'])

function pass(chunks: readonly Uint8Array[]): Buffer {
  const stream = createStreamRedactor(redact)
  const parts = chunks.map((chunk) => Buffer.from(stream.push(chunk)))
  return Buffer.concat([...parts, stream.flush()])
}

describe('createStreamRedactor', () => {
  it('hides a secret wherever the stream is cut', () => {
    const text = Buffer.from('before hunter2secret after\nnext line\n')
    for (let cut = 0; cut <= text.length; cut++) {
      expect(pass([text.subarray(0, cut), text.subarray(cut)]).toString()).toBe('before [redacted] after\nnext line\n')
    }
    expect(pass(Array.from(text, (byte) => Uint8Array.of(byte))).toString()).toContain('[redacted]')
  })

  it('hides a private key over several lines, and passes the rest at once', () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAbCd\n-----END RSA PRIVATE KEY-----'
    const text = Buffer.from(`before\n${key}\nafter\n`)
    for (let cut = 0; cut <= text.length; cut++) {
      expect(pass([text.subarray(0, cut), text.subarray(cut)]).toString()).toBe('before\n[redacted]\nafter\n')
    }
    const stream = createStreamRedactor(redact)
    expect(Buffer.from(stream.push(text.subarray(0, 50))).toString()).toBe('before\n')
  })

  it('passes everything else byte by byte, even invalid UTF-8', () => {
    const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 7919) % 256)
    expect(pass([bytes.subarray(0, 70_001), bytes.subarray(70_001)]).equals(bytes)).toBe(true)
  })

  it('passes whole lines at once and holds back the unfinished one', () => {
    const stream = createStreamRedactor(redact)
    expect(Buffer.from(stream.push(Buffer.from('one\ntwo'))).toString()).toBe('one\n')
    expect(Buffer.from(stream.flush()).toString()).toBe('two')
  })

  it('does not keep the caller’s buffer', () => {
    const stream = createStreamRedactor(redact)
    const chunk = Buffer.from('first')
    stream.push(chunk)
    chunk.fill('x')
    expect(Buffer.from(stream.flush()).toString()).toBe('first')
  })

  it('holds back a bounded part of an endless line, and hides secrets across parts', () => {
    const stream = createStreamRedactor(redact)
    const line = Buffer.from(`${'ä'.repeat(40_000)}hunter2secret`.repeat(5))
    let held = 0
    let mostHeld = 0
    const parts: Buffer[] = []
    for (let at = 0; at < line.length; at += 1_000) {
      const chunk = line.subarray(at, at + 1_000)
      const out = Buffer.from(stream.push(chunk))
      held += chunk.length - out.length
      mostHeld = Math.max(mostHeld, held)
      parts.push(out)
    }
    const shown = Buffer.concat([...parts, stream.flush()]).toString()
    expect(shown).toBe(`${'ä'.repeat(40_000)}[redacted]`.repeat(5))
    expect(mostHeld).toBeLessThan(70_000)
  })
})

describe('redactTail', () => {
  const tailOf = (text: string) => Buffer.from(redactTail(Buffer.from(text), redact)).toString()

  it('hides the end of a private key that began before', () => {
    const end = 'MIIEow\nAbCd\n-----END RSA PRIVATE KEY-----'
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${end}`
    expect(tailOf(`${end}\nafter hunter2secret\n${key}\nlast`)).toBe('[redacted]\nafter [redacted]\n[redacted]\nlast')
    expect(tailOf(`before\n${key}\nlast`)).toBe('before\n[redacted]\nlast')
  })

  it('hides secrets anywhere in a long text', () => {
    const text = 'words hunter2secret words\n'.repeat(20_000)
    expect(tailOf(text)).toBe(text.replaceAll('hunter2secret', '[redacted]'))
  })
})
