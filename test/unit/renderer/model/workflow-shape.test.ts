import { expect, test } from 'vitest'
import {
  cancellationState,
  coderRole,
  columnsOf,
  glyphOfState,
  stateOf,
} from '../../../../src-renderer/model/workflow-shape.ts'
import { workflow } from '../workflow-fixture.ts'

test('orders columns as the workflow first names them, each with its states', () => {
  const shape = columnsOf(workflow).map((column) => [column.name, column.states.map((state) => state.name)])
  expect(shape).toEqual([
    ['Ideas', ['ideas']],
    ['Ready', ['ready']],
    ['Making', ['making', 'stuck']],
    ['Judging', ['judged', 'planned']],
    ['Landing', ['landing', 'crashed']],
    ['Waiting', ['waiting']],
    ['Over', ['over', 'dropped']],
  ])
})

test('counts only a column of terminal states as terminal', () => {
  expect(columnsOf(workflow).flatMap((column) => (column.terminal ? [column.name] : []))).toEqual(['Over'])
})

test('derives a glyph from kind and hooks, never from the name', () => {
  const glyphs = Object.fromEntries(workflow.states.map((state) => [state.name, glyphOfState(workflow, state)]))
  expect(glyphs).toEqual({
    ideas: 'backlog',
    ready: 'initial',
    making: 'active',
    stuck: 'blocked',
    judged: 'gate',
    planned: 'gate',
    landing: 'merging',
    crashed: 'merge-failed',
    waiting: 'custom',
    over: 'terminal',
    dropped: 'cancelled',
  })
})

test('takes a terminal state called cancelled if none is declared', () => {
  const { cancellation_state, ...rest } = workflow
  expect(cancellation_state).toBe('dropped')
  expect(cancellationState(rest)).toBeNull()
  const named = { name: 'cancelled', kind: 'terminal', column: 'Over', label: 'Cancelled', transitions: [] } as const
  expect(cancellationState({ ...rest, states: [...rest.states, { ...named, transitions: [] }] })).toBe('cancelled')
})

test('returns undefined for an unknown state', () => {
  expect(stateOf(workflow, 'gone')).toBeUndefined()
  expect(stateOf(undefined, 'ideas')).toBeUndefined()
})

test('finds the coder in the first active state after the queue', () => {
  const named = (name: string, kind: 'initial' | 'gate' | 'active', to: string, role?: string) => ({
    name,
    kind,
    column: name,
    label: name,
    transitions: [{ to, label: 'On', audience: 'all' as const }],
    ...(role === undefined ? {} : { role }),
  })
  const way = [named('queue', 'initial', 'plan'), named('plan', 'gate', 'work', 'planner')]
  expect(coderRole({ roles: [], states: [...way, named('work', 'active', 'queue', 'maker')] })).toBe('maker')
  expect(coderRole({ roles: [], states: [...way, named('work', 'active', 'queue')] })).toBe('assignee')
  expect(
    coderRole({ roles: [], states: [named('queue', 'initial', 'plan'), named('plan', 'gate', 'queue')] }),
  ).toBeNull()
})
