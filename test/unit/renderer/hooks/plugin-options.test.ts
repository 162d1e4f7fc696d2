import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  hasOtherOptions,
  optionFields,
  optionProblem,
  otherOptions,
  parseObject,
  withOption,
  withOtherOptions,
} from '../../../../src-renderer/features/hooks/plugin-options.ts'

const options = z.toJSONSchema(
  z.object({
    limit: z.int().min(1).max(50).default(20).describe('How many at most.'),
    weight: z.number().optional(),
    rounds: z.int(),
    gate: z.string().optional(),
    kind: z.enum(['all', 'notes']),
    verbose: z.boolean().default(false),
    tags: z.array(z.string()).optional(),
  }),
  { io: 'input' },
)
const fields = optionFields(options)
const field = (name: string) => {
  const found = fields.find((each) => each.name === name)
  if (!found) throw new Error(`No field ${name}.`)
  return found
}

test('offers fields for simple options, and JSON for the others', () => {
  expect(fields.map(({ name, kind, required }) => `${name} ${kind}${required ? ' required' : ''}`)).toEqual([
    'limit number',
    'weight number',
    'rounds number required',
    'gate text',
    'kind choice required',
    'verbose switch',
  ])
  expect(field('limit')).toMatchObject({ about: 'How many at most.', min: 1, max: 50, whole: true, fallback: 20 })
  expect(field('rounds')).toMatchObject({ min: null, max: null })
  expect(field('kind').choices).toEqual(['all', 'notes'])
  expect(hasOtherOptions(options)).toBe(true)
})

test('has nothing to fill in for a plugin without options', () => {
  const none = z.toJSONSchema(z.strictObject({}), { io: 'input' })
  expect(optionFields(none)).toEqual([])
  expect(hasOtherOptions(none)).toBe(false)
  expect(hasOtherOptions(z.toJSONSchema(z.record(z.string(), z.unknown()), { io: 'input' }))).toBe(true)
})

describe('a value', () => {
  test.each([
    ['limit', undefined, null],
    ['limit', 50, null],
    ['limit', 51, 'A whole number from 1 to 50.'],
    ['limit', 2.5, 'A whole number from 1 to 50.'],
    ['limit', 'x', 'A whole number from 1 to 50.'],
    ['weight', 2.5, null],
    ['weight', 'x', 'A number.'],
    ['rounds', undefined, 'Required.'],
    ['kind', 'notes', null],
    ['kind', 'other', 'One of: all, notes.'],
    ['gate', 'review', null],
  ])('of %s, %s', (name, value, problem) => {
    expect(optionProblem(field(name), value)).toBe(problem)
  })
})

describe('editing options', () => {
  const config = { limit: 3, tags: ['a'], unknown: true }
  test('contains in the JSON what no field shows, and leaves the fields alone', () => {
    expect(otherOptions(config, fields)).toEqual({ tags: ['a'], unknown: true })
    expect(withOtherOptions(config, fields, '{"tags":["b"],"limit":9}')).toEqual({ tags: ['b'], limit: 3 })
    expect(withOtherOptions(config, fields, '')).toEqual({ limit: 3 })
    expect(withOtherOptions(config, fields, '{"tags":')).toBeNull()
  })
  test('accepts only an object', () => {
    expect([parseObject('[1]'), parseObject('1'), parseObject('null'), parseObject('x')]).toEqual([
      null,
      null,
      null,
      null,
    ])
    expect(parseObject(' ')).toEqual({})
  })
  test('leaves out an emptied field', () => {
    expect(withOption(config, 'limit', 4)).toEqual({ ...config, limit: 4 })
    expect(withOption(config, 'limit', '')).toEqual({ tags: ['a'], unknown: true })
    expect(withOption(config, 'verbose', false)).toEqual({ ...config, verbose: false })
  })
})
