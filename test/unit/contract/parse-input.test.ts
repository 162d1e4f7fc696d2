import { expect, test } from 'vitest'
import { z } from 'zod'
import { parseInput } from '../../../src-shared/contract/parse-input.ts'

const schema = z.object({
  title: z.string(),
  env: z.record(z.string(), z.string()).optional(),
  data: z.string().optional(),
})

test.each([
  ['the character NUL', { title: 'a\0b' }, 'title'],
  ['NUL in a name', { title: 'a', env: { 'A\0': 'b' } }, 'env.key'],
  ['half of a character', { title: 'a\ud800b' }, 'title'],
  ['the other half', { title: 'a', env: { A: '\udc00' } }, 'env.A'],
])('refuses text with %s and names its path', (_what, input, path) => {
  expect(() => parseInput(schema, input)).toThrow(
    expect.objectContaining({
      code: 'validation_failed',
      details: { issues: [{ path, message: expect.anything() as string }] },
    }),
  )
})

test('accepts anything as terminal input, and only whole characters elsewhere', () => {
  const input = { title: 'é 語 🦊', data: '\0' }
  expect(parseInput(schema, input)).toEqual(input)
})

const settings = z.strictObject({
  merge_strategy: z.string().optional(),
  setup_commands: z.array(z.string()).optional(),
  knowledge: z.strictObject({ enabled: z.boolean() }).optional(),
})
test.each([
  [{ merge_stratgy: 'squash' }, 'merge_stratgy', 'Did you mean merge_strategy?'],
  [{ setupCommands: [] }, 'setupCommands', 'Did you mean setup_commands?'],
  [{ knowledge: { enable: true } }, 'knowledge.enable', 'Did you mean enabled?'],
  [{ colour: 'red' }, 'colour', 'Unknown field.'],
])('refuses an unknown setting, %j, with the nearest name', (input, path, words) => {
  const message = expect.stringContaining(words) as string
  expect(() => parseInput(settings, input)).toThrow(
    expect.objectContaining({
      code: 'validation_failed',
      message,
      details: { issues: expect.arrayContaining([{ path, message }]) as unknown },
    }),
  )
})
