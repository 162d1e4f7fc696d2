import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineSplitter, keptOfOverlongLine } from '../../../../src-main/agents/agent/split-lines.ts'
import type { SplitLine } from '../../../../src-main/agents/agent/split-lines.ts'
import { cutAt } from '../claude-code/cut-bytes.ts'

function split(chunks: readonly Uint8Array[], maxBytes?: number): SplitLine[] {
  const splitter = createLineSplitter(maxBytes)
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]
}

test('returns the same lines for any chunking, even inside characters', () => {
  const text = fc.array(fc.constantFrom('a', 'ü', '🌲', '\n', '\r\n', ' ', '{"x":1}'), { maxLength: 60 })
  fc.assert(
    fc.property(
      text,
      fc.array(fc.nat(200), { maxLength: 12 }),
      fc.constantFrom(3, 8, undefined),
      (parts, cuts, max) => {
        const bytes = Buffer.from(parts.join(''))
        expect(split(cutAt(bytes, cuts), max)).toEqual(split([bytes], max))
      },
    ),
  )
})

test('returns lines without ends, skips empty ones and keeps the last half line', () => {
  expect(split([Buffer.from('one\r\n\n\ntwo\nhalf')])).toEqual(
    ['one', 'two', 'half'].map((text) => ({ text, omittedBytes: 0 })),
  )
})

test('keeps a line of 32 MB whole, cuts one that is a byte longer, and reads the next', () => {
  const limit = 32 * 1024 * 1024
  const whole = Buffer.alloc(limit, 'x')
  const [line] = split([whole.subarray(0, 1_000_000), whole.subarray(1_000_000), Buffer.from('\n')])
  expect([line?.text.length, line?.omittedBytes]).toEqual([limit, 0])

  const cut = split([whole, Buffer.from('y\nnext\n')])
  expect(cut.map(({ text, omittedBytes }) => [text.length, omittedBytes])).toEqual([
    [keptOfOverlongLine, limit + 1 - keptOfOverlongLine],
    [4, 0],
  ])
})

test('keeps lines unchanged when the caller reuses its buffer', () => {
  const splitter = createLineSplitter()
  const memory = Buffer.from('half')
  splitter.push(memory)
  memory.fill('x')
  expect(splitter.push(Buffer.from(' line\n'))).toEqual([{ text: 'half line', omittedBytes: 0 }])
})
