import { expect, test } from 'vitest'
import {
  awaitedText,
  contactTrouble,
  runnerChoice,
  runnerLoad,
  runnerTrouble,
} from '../../../../src-renderer/formatters/runner-text.ts'
import { waitReasonText } from '../../../../src-renderer/formatters/wait-reason-text.ts'

const ready = { name: 'Box', state: 'ready', last_error: null } as const
const gone = { name: 'Box', state: 'unreachable', last_error: 'It does not answer. Start it.' } as const

test('says for which runners a run waits, also without their names', () => {
  expect(awaitedText(['Box'], 'runner_full')).toBe('Box is full')
  expect(awaitedText(['Box', 'Shed'], 'runner_full')).toBe('Box and Shed are full')
  expect(awaitedText(['Box', 'Shed', 'Den'], 'runner_full')).toBe('All 3 runners are full')
  expect(awaitedText(['Box'], 'runner_unreachable')).toBe('Box isn’t ready')
  expect(awaitedText(['Box', 'Shed'], 'runner_unreachable')).toBe('Box and Shed aren’t ready')
  expect(awaitedText(['Box', 'Shed', 'Den'], 'runner_unreachable')).toBe('None of 3 runners is ready')
  expect(waitReasonText({ reason: 'runner_full', position: null }, false, ['Box'])).toBe('Box is full')
  expect(waitReasonText({ reason: 'runner_full', position: null }, false)).toBe('Runner full')
  expect(waitReasonText({ reason: 'runner_unreachable', position: null }, false)).toBe('Runner not ready')
})

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
