import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineFilter } from '../../../../src-main/agents/agent/filter-lines.ts'
import { cutAt } from '../claude-code/cut-bytes.ts'

const line = fc.constantFrom('', 'ab', '{"x":1}', '{"x":1} more', ' {"x":2}', '{"y', '{"', 'an {"x":3} inside', 'ü')

test('takes out the lines with its start, wherever the chunks are cut', () => {
  const lines = fc.array(line, { maxLength: 12 })
  fc.assert(
    fc.property(lines, fc.boolean(), fc.array(fc.nat(100), { maxLength: 12 }), (all, isEnded, cuts) => {
      const text = all.join('\n') + (isEnded && all.length > 0 ? '\n' : '')
      const filter = createLineFilter('{"x":', () => true)
      const passed = cutAt(Buffer.from(text), cuts).map((chunk) => filter.push(chunk))
      const expected = text
        .split(/(?<=\n)/)
        .filter((one) => !one.startsWith('{"x":'))
        .join('')
      expect(Buffer.concat([...passed, filter.flush()]).toString()).toBe(expected)
    }),
    { numRuns: 2_000 },
  )
})
