import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSseParser } from '../../../src-shared/client/sse-parser.ts'

const stream =
  ': open\r\n\r\nid: 6\n\nid: 7\nevent: task.created\ndata: {"a":\ndata:1}\n\n: keep-alive\n\nevent: end\rdata\r\rdata: ü\n\nid: 8\n'
const events = [
  { id: '6', event: '', data: '' },
  { id: '7', event: 'task.created', data: '{"a":\n1}' },
  { id: null, event: 'end', data: '' },
  { id: null, event: 'message', data: 'ü' },
]

test('parses a stream the same for any chunking', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: stream.length })), (cuts) => {
      const parser = createSseParser()
      const at = [0, ...cuts.toSorted((a, b) => a - b), stream.length]
      const seen = at.flatMap((end, index) => parser.push(stream.slice(at[index - 1] ?? 0, end)))
      expect(seen).toEqual(events)
    }),
  )
})
