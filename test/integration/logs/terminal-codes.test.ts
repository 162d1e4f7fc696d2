import { expect, test } from 'vitest'
import { createRedactor } from '../../../src-main/platform/text/redact.ts'
import { createStreamRedactor } from '../../../src-main/platform/text/redact-stream.ts'

const key = `ghp_${'a1B2c3D4e5F6g7H8'.repeat(2)}Xyz9`
const [first, last] = [key.slice(0, 9), key.slice(9)]

function written(text: string, step = 7): string {
  const stream = createStreamRedactor(createRedactor([]))
  const bytes = Buffer.from(text)
  const shown: Buffer[] = []
  for (let start = 0; start < bytes.length; start += step)
    shown.push(Buffer.from(stream.push(bytes.subarray(start, start + step))))
  return Buffer.concat([...shown, stream.flush()]).toString()
}

test.each([
  ['a color', `${first}\x1b[31m${last}`],
  ['colors after each character', [...key].join('\x1b[0;1m')],
  ['a cursor move', `${first}\x1b[9G${last}`],
  ['a return and a cursor move', `${first}\r\x1b[9C${last}`],
  ['a title', `${first}\x1b]0;title\x07${last}`],
  ['a link', `${first}\x1b]8;;https://example.com\x1b\\${last}`],
  ['a character set', `${first}\x1b(B${last}`],
  ['an 8-bit code', `${first}\u009b31m${last}`],
  ['a backspace', `${first}x\b${last}`],
  ['a NUL', `${first}\0${last}`],
  ['a color in JSON', JSON.stringify({ text: `${first}\x1b[31m${last}` })],
])('hides a key that is split by %s', (how, text) => {
  const shown = written(`before\n${text} after\nmore\n`, 1_000)
  expect(shown).not.toContain(last)
  expect(shown).toMatch(/^before\n.*\[redacted\].*after.*\nmore\n$/)
  // A return ends what is held back, so that a progress bar is shown.
  if (!how.includes('return')) expect(written(`${text}\n`)).not.toContain(last)
})

test('hides a private key whose head has codes in it', () => {
  const text = `x\n-----BEGIN\x1b[1m PRIVATE KEY-----\nabcdef\nghijkl\n-----END PRIVATE\x1b[0m KEY-----\nrest\n`
  expect(written(text)).toBe('x\n[redacted]\nrest\n')
})

test('keeps codes of lines without a secret', () => {
  const text = `\x1b[32m✓\x1b[0m done\x1b]0;title\x07\nspin\r\x1b[2Kning\b\n`
  expect(written(text)).toBe(text)
  expect(written(`${text}${first}\x1b[1m${last}\n`, 1_000)).toBe(`${text}[redacted]\n`)
})
