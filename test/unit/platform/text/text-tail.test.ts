import { describe, expect, it } from 'vitest'
import { createLineBuffer } from '../../../../src-main/platform/text/line-buffer.ts'
import { createTextTail } from '../../../../src-main/platform/text/text-tail.ts'

describe('createTextTail', () => {
  it('keeps all of a short output', () => {
    const tail = createTextTail(100)
    tail.push(Buffer.from('one\n'))
    tail.push(Buffer.from('two'))
    expect(tail.text()).toBe('one\ntwo')
  })

  it('never shows half a character, wherever the cut is', () => {
    for (let max = 20; max < 40; max++) {
      const tail = createTextTail(max)
      const bytes = Buffer.from('€😀ä'.repeat(50))
      for (let at = 0; at < bytes.length; at += 7) tail.push(bytes.subarray(at, at + 7))
      expect(tail.text()).not.toContain('\ufffd')
      expect('€😀ä'.repeat(50).endsWith(tail.text())).toBe(true)
      expect(Buffer.byteLength(tail.text())).toBeGreaterThan(max - 4)
    }
  })

  it('drops the beginning of a character that was never completed', () => {
    const tail = createTextTail(100)
    tail.push(Buffer.from('ok 😀').subarray(0, 5))
    expect(tail.text()).toBe('ok ')
  })

  it('begins with a whole line if one begins near the cut', () => {
    const tail = createTextTail(50)
    for (let line = 0; line < 100; line++) tail.push(Buffer.from(`line ${line}\n`))
    expect(tail.text()).toBe('line 94\nline 95\nline 96\nline 97\nline 98\nline 99\n')
  })
})

describe('createLineBuffer', () => {
  it('returns whole lines, and the rest at the end', () => {
    const lines = createLineBuffer()
    const seen = ['a\nb', 'c\nd'].map((text) => Buffer.from(lines.push(Buffer.from(text))).toString())
    expect([...seen, Buffer.from(lines.flush()).toString()]).toEqual(['a\n', 'bc\n', 'd'])
  })

  it('returns a very long line in parts of whole characters', () => {
    const lines = createLineBuffer(10)
    const bytes = Buffer.from('€'.repeat(20))
    const parts: string[] = []
    for (let at = 0; at < bytes.length; at += 4)
      parts.push(Buffer.from(lines.push(bytes.subarray(at, at + 4))).toString())
    parts.push(Buffer.from(lines.flush()).toString())
    expect(parts.join('')).toBe('€'.repeat(20))
    expect(parts.filter((part) => part !== '').length).toBeGreaterThan(3)
  })
})
