import { expect, test } from 'vitest'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

test('what is no JSON is undefined, and nothing else is', () => {
  expect(parseJson('{"a": [1, null]}')).toEqual({ a: [1, null] })
  expect(parseJson('null')).toBeNull()
  for (const text of ['', '{"a": ', 'undefined', '[1,]']) expect(parseJson(text)).toBeUndefined()
})
