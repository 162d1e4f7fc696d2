import { expect, test } from 'vitest'
import {
  contactTrouble,
  runnerChoice,
  runnerLoad,
  runnerTrouble,
} from '../../../../src-renderer/formatters/runner-text.ts'

const ready = { name: 'Box', state: 'ready', last_error: null } as const
const gone = { name: 'Box', state: 'unreachable', last_error: 'It does not answer. Start it.' } as const

test('says in words why a runner starts nothing, with what to do', () => {
  expect(runnerTrouble(ready)).toBeNull()
  expect(runnerTrouble(gone)).toBe('Box can’t be reached. It does not answer. Start it.')
  expect(runnerTrouble({ ...gone, last_error: null })).toBe('Box can’t be reached.')
  expect(runnerTrouble({ ...ready, state: 'unchecked' })).toBe('Box isn’t checked yet.')
  expect(runnerTrouble({ ...ready, state: 'outdated' })).toBe('Box has another version of Copse.')
  expect([ready, gone].map(runnerChoice)).toEqual(['Box', 'Box (can’t be reached)'])
})

test('says that a running agent is out of contact, and nothing of one that has ended', () => {
  const link = { state: 'lost', since: '2026-11-28T12:00:00.000Z' } as const
  expect(contactTrouble({ status: 'running', link }, ready)).toContain('Lost contact with Box.')
  expect(contactTrouble({ status: 'running', link: null }, gone)).toContain('Box can’t be reached.')
  expect(contactTrouble({ status: 'running', link: null }, ready)).toBeNull()
  expect(contactTrouble({ status: 'running', link: null }, null)).toBeNull()
  expect(contactTrouble({ status: 'lost', link }, gone)).toBeNull()
})

test('counts the runs of a runner, with its limit', () => {
  expect(runnerLoad({ running: 1, capacity: 2 })).toBe('1 of 2 running')
  expect(runnerLoad({ running: 3, capacity: null })).toBe('3 running')
})
