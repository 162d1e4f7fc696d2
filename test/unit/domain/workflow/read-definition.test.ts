import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  readDefinition,
  readDefinitionText,
  workflowRefusal,
} from '../../../../src-main/domain/workflow/read-definition.ts'
import { anyValidDefinition, plugins, standardDefinition } from '../workflows.ts'

const state = (name: string, more: object = {}) => ({ name, kind: 'custom', column: 'A', label: name, ...more })
const to = (...targets: string[]) => targets.map((target) => ({ to: target, label: target }))
const chain = (names: readonly string[], more: object = {}) => ({
  states: names.map((name, index) =>
    state(name, {
      kind: index === 0 ? 'initial' : index === names.length - 1 ? 'terminal' : 'custom',
      transitions: to(...names.slice(index + 1, index + 2)),
      ...(index === 1 && more),
    }),
  ),
})
const issuesOf = (value: unknown) => readDefinition(value, plugins).issues.map(({ rule, path }) => [rule, path])

test('fills missing keys with their defaults', () => {
  expect(readDefinition(chain(['a', 'b']), plugins).definition).toEqual({
    roles: [],
    states: [
      { name: 'a', kind: 'initial', column: 'A', label: 'a', transitions: [{ to: 'b', label: 'b', audience: 'all' }] },
      { name: 'b', kind: 'terminal', column: 'A', label: 'b', transitions: [] },
    ],
  })
})

test.each<[string, unknown, string]>([
  ['null', null, ''],
  ['a list', [], ''],
  ['a text', 'default', ''],
  ['no states', { states: [] }, 'states'],
  ['a kind that is none', chain(['a', 'b', 'c'], { kind: 'magic' }), 'states.1.kind'],
  [
    'a transition without a target',
    chain(['a', 'b', 'c'], { transitions: [{ label: 'x' }] }),
    'states.1.transitions.0.to',
  ],
  ['a phase that is none', chain(['a', 'b', 'c'], { hooks: { whenever: [] } }), 'states.1.hooks'],
  [
    'a hook that is plugin and script at once',
    chain(['a', 'b', 'c'], { hooks: { on_exit: [{ plugin: 'run_merge', script: 'true' }] } }),
    'states.1.hooks.on_exit.0',
  ],
  [
    'blocking on a state hook',
    chain(['a', 'b', 'c'], { hooks: { on_exit: [{ script: 'true' }, { script: 'true', blocking: false }] } }),
    'states.1.hooks.on_exit.1.blocking',
  ],
  ['1,001 states', chain(Array.from({ length: 1_001 }, (_, index) => `s${index}`)), 'states'],
])('rejects %s with schema', (_what, value, path) => {
  expect(issuesOf(value)).toEqual([['schema', path]])
})

test('rejects text that is no JSON with schema', () => {
  expect(readDefinitionText('{"states": [', plugins).issues).toMatchObject([
    { rule: 'schema', path: '', message: expect.stringContaining("isn't valid JSON") as string },
  ])
})

test('names the first broken rule and lists at most a hundred others', () => {
  const states = chain(Array.from({ length: 500 }, (_, index) => `s${index}`)).states.map((one) => ({
    ...one,
    column: '',
  }))
  const { issues } = readDefinition({ states }, plugins)
  const refusal = issues[0] && workflowRefusal(issues as never)
  expect(refusal).toMatchObject({
    code: 'workflow_invalid',
    message: 's0 needs a column. (and 499 more)',
    details: { rule: 'column_empty', path: 'states.0.column' },
  })
  expect(refusal?.details?.['issues']).toHaveLength(100)
})

describe('names of properties that every object has', () => {
  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ' ', '💥', 'a.b'])(
    'allows %j as name of a state',
    (name) => {
      const text = JSON.stringify(chain(['a', name, 'c']))
      expect(readDefinitionText(text, plugins).definition?.states.map((one) => one.name)).toEqual(['a', name, 'c'])
    },
  )

  test('reports a missing state by any such name', () => {
    expect(issuesOf(chain(['a', 'b', 'c'], { transitions: to('c', '__proto__', 'constructor') }))).toEqual([
      ['transition_target_missing', 'states.1.transitions.1'],
      ['transition_target_missing', 'states.1.transitions.2'],
    ])
  })

  test('reports a plugin or role by such a name as unknown', () => {
    const hooks = { on_enter: [{ plugin: 'constructor' }] }
    expect(issuesOf(chain(['a', 'b', 'c'], { hooks, role: 'toString' }))).toEqual([
      ['undeclared_role', 'states.1.role'],
      ['unknown_plugin', 'states.1.hooks.on_enter.0'],
    ])
  })
})

describe('oversized definitions', () => {
  test('refuses a definition nested 500,000 deep for its depth', () => {
    const text = `{"states":[],"x":${'['.repeat(400_000)}${']'.repeat(400_000)}}`
    expect(readDefinitionText(text, plugins).issues).toMatchObject([
      { rule: 'schema', message: 'The workflow is nested more than 32 levels deep.' },
    ])
  })

  test('refuses one that contains itself, as YAML allows, for its depth', () => {
    const round: Record<string, unknown> = { states: [] }
    round['again'] = round
    expect(issuesOf(round)).toEqual([['schema', '']])
  })

  test('refuses one that refers to a part a million times for its length', () => {
    const bomb = Array.from({ length: 20 }).reduce<unknown>((inner) => [inner, inner, inner, inner], 'lol')
    expect(readDefinition(bomb, plugins).issues).toMatchObject([
      { message: expect.stringContaining('longer') as string },
    ])
  })

  test('walks 1,000 densely connected states once', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `s${index}`)
    const states = names.map((name, index) =>
      state(name, {
        kind: index === 0 ? 'initial' : index === 999 ? 'terminal' : 'custom',
        transitions: to(...names.slice(1, 25), names[index + 1] ?? 's0'),
      }),
    )
    expect(issuesOf({ states })).toEqual([])
  })
})

test('reads every valid random definition back from its JSON', () => {
  fc.assert(
    fc.property(anyValidDefinition, (definition) => {
      expect(readDefinitionText(JSON.stringify(definition), plugins)).toEqual({ definition, issues: [] })
    }),
  )
})

test('reads the built-in workflow back from its JSON', () => {
  expect(readDefinitionText(JSON.stringify(standardDefinition), plugins).definition).toEqual(standardDefinition)
})
