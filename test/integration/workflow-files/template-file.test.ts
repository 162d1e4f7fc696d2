import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatTemplate, parseTemplate } from '../../../src-main/workflow-files/template-file.ts'
import { anyValidDefinition, plugins, standardDefinition } from '../../unit/domain/workflows.ts'

const messageOf = (text: string) => parseTemplate(text, plugins).issues[0]?.message

test('reads every valid random definition back from its file', () => {
  fc.assert(
    fc.property(anyValidDefinition, fc.string({ unit: 'grapheme' }), fc.string(), (definition, description, label) => {
      const labelled = { ...definition, states: definition.states.map((state) => ({ ...state, label })) }
      expect(parseTemplate(formatTemplate(description, labelled), plugins)).toEqual({
        description,
        definition: labelled,
        issues: [],
      })
    }),
    { numRuns: 200 },
  )
})

test('accepts a missing description, and ignores renames', () => {
  const [first, ...states] = standardDefinition.states
  const text = formatTemplate('', {
    ...standardDefinition,
    states: [{ ...first, renamed_from: 'old' }, ...states] as never,
  })
  expect(parseTemplate(text.replace('description: ""\n', ''), plugins)).toEqual({
    description: '',
    definition: standardDefinition,
    issues: [],
  })
})

test('accepts anchors for repeated parts', () => {
  const text = `
description: Shared hooks
states:
  - { name: a, kind: initial, column: A, label: A, transitions: [{ to: b, label: B }], hooks: &hooks { on_exit: [{ script: 'true' }] } }
  - { name: b, kind: terminal, column: A, label: B, hooks: *hooks }
`
  expect(parseTemplate(text, plugins).definition?.states.map((state) => state.hooks)).toEqual([
    { on_exit: [{ script: 'true' }] },
    { on_exit: [{ script: 'true' }] },
  ])
})

describe('says what is wrong with a broken file', () => {
  test.each([
    ['an empty file', '', 'The file holds no workflow'],
    ['a list', '- a\n- b', 'The file holds no workflow'],
    ['a text', 'hello', 'The file holds no workflow'],
    ['what is valid YAML', 'states: [', "The file isn't valid YAML"],
    ['a binary file', '\u0000\u0001\u0002', 'The file holds no workflow'],
    ['two documents', '---\na: 1\n---\nb: 2', 'The file holds more than one document.'],
    ['a key that is there twice', 'states: []\nroles: []\nstates: []', 'The file has the key states twice'],
    ['a key that is there twice further in', 'states:\n  - { name: a, kind: b, name: c }', 'has the key name twice'],
    ['a description that is a number', 'description: 5\nstates: []', 'description: Enter text.'],
    ['the wrong shape', 'states: 5', 'states: '],
    ['no state', 'description: None', 'states: '],
    [
      'a broken rule',
      'states: [{ name: a, kind: initial, column: A, label: A }]',
      'At least one state has kind terminal',
    ],
  ])('%s', (_what, text, message) => {
    const read = parseTemplate(text, plugins)
    expect(read.definition).toBeNull()
    expect(read.issues[0]?.message).toContain(message)
  })
})

describe('a YAML bomb is refused', () => {
  test('aliases that multiply', () => {
    const more = [...'bcdefghi'].map(
      (name, at) =>
        `${name}: &${name} [${Array(9)
          .fill(`*${'abcdefgh'[at] ?? ''}`)
          .join(',')}]`,
    )
    expect(messageOf(['a: &a [lol, lol]', ...more].join('\n'))).toContain('valid YAML')
  })

  test('aliases that repeat a long text', () => {
    expect(messageOf(`a: &a "${'x'.repeat(100_000)}"\nb: [${Array(90).fill('*a').join(',')}]`)).toContain('longer')
  })

  test('an alias that contains itself', () => {
    expect(messageOf('a: &a [*a]')).toContain('nested')
  })

  test.each(['[', '{a: ', '- ', '? '])('a file of %j only', (text) => {
    expect(messageOf(text.repeat(200_000 / text.length))).toBe('The file is nested too deeply.')
  })

  test('tens of thousands of keys', () => {
    expect(messageOf(Array.from({ length: 20_000 }, (_, at) => `k${at}: v`).join('\n'))).toContain('states: ')
  })

  test('names of properties that every object has', () => {
    expect(messageOf('__proto__: { states: [] }\nconstructor: x\nroles: []')).toContain('states: ')
    expect(Object.keys({})).toEqual([])
  })
})
