import { expect, test } from 'vitest'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

test('returns undefined only for text that is no JSON', () => {
  expect(parseJson('{"a": [1, null]}')).toEqual({ a: [1, null] })
  expect(parseJson('null')).toBeNull()
  for (const text of ['', '{"a": ', 'undefined', '[1,]']) expect(parseJson(text)).toBeUndefined()
})
