import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJson } from '../../../src-main/server/read-json.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'

function refusal(body: string | Uint8Array): string {
  try {
    return JSON.stringify(readJson(Buffer.from(body as string)))
  } catch (error) {
    if (error instanceof ApiError) return `${error.code}: ${error.message}`
    throw error
  }
}

test.each([
  ['{"a":1,"b":2,"a":3}', 'invalid_json: The body has the key "a" twice in one object.'],
  ['{"x":[{"a":1,"\\u0061":2}]}', 'invalid_json: The body has the key "a" twice in one object.'],
  ['{"a":{"k":1},"b":{"k":[{"k":1},{"k":2}]},"k":"k"}', '{"a":{"k":1},"b":{"k":[{"k":1},{"k":2}]},"k":"k"}'],
  ['{"a":"\\"}{\\\\","b":","}', '{"a":"\\"}{\\\\","b":","}'],
  ['{"__proto__":{"is_admin":true}}', "invalid_json: The body can't have a key __proto__."],
  ['{"\\u005f_proto__":1}', "invalid_json: The body can't have a key __proto__."],
  ['["__proto__","a","a"]', '["__proto__","a","a"]'],
  ['{"a":', 'invalid_json: The body is not valid JSON.'],
  [`${'['.repeat(65)}${']'.repeat(65)}`, 'invalid_json: The body is nested deeper than 64 levels.'],
  // Refused before it is parsed, so whether it is closed does not matter.
  ['['.repeat(65), 'invalid_json: The body is nested deeper than 64 levels.'],
  [`${'['.repeat(64)}${']'.repeat(64)}`, `${'['.repeat(64)}${']'.repeat(64)}`],
  [Uint8Array.of(0x22, 0xc3, 0x28, 0x22), 'invalid_json: The body is not UTF-8.'],
  [Uint8Array.of(0xff, 0xfe, 0x7b, 0), 'invalid_json: The body is not UTF-8.'],
])('reads %j as %s', (body, expected) => {
  expect(refusal(body)).toBe(expected)
})

test('reads an empty body as none', () => {
  expect(readJson(Buffer.alloc(0))).toBeUndefined()
})

test('reads what JSON.parse reads, unless a key occurs twice', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      fc.pre(!text.includes('__proto__'))
      expect(readJson(Buffer.from(text))).toEqual(JSON.parse(text))
    }),
  )
})
