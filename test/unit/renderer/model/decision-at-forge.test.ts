import { describe, expect, test } from 'vitest'
import { checkOf, pullOf } from '../pull-request-fixture.ts'
import { annotated, gate, shown, type Situation } from './decision-fixture.ts'

test('merges nothing here that is open at the forge', () => {
  const pull_request = { number: 431, url: pullOf().url, state: 'open' as const }
  const there = '#431 is open. Merge it there, or close it first.'
  expect(shown({ task: { pull_request } })).toMatchObject({
    says: there,
    button: 'Show pull request',
    cannot: { merge: there },
  })
  expect(shown({ task: { pull_request: { ...pull_request, state: 'closed' } } })?.button).toBe('Merge into main')
})

describe('the gate that waits for the forge', () => {
  const atForge = gate({
    hooks: { on_enter: [{ plugin: 'open_pull_request' }], after_enter: [{ plugin: 'await_pull_request' }] },
    transitions: [{ to: 'done', label: 'Merged', audience: 'all' }],
  })
  const ref = { number: 431, url: pullOf().url, state: 'open' } as const
  const pullRequest = { ref, known: pullOf(), forge: 'GitHub', can: null, off: null, unready: null }
  const at = (more: Situation = {}) =>
    shown({ workflow: atForge, review: null, ...more, task: { pull_request: ref, ...more.task } })

  test('merges there, not here, and can send the work back', () => {
    expect(at({ pullRequest })).toEqual({
      says: '#431 can be merged',
      tone: 'ok',
      button: 'Merge on GitHub',
      can: ['request_changes', 'move'],
      cannot: {},
    })
  })
  test('says on its button what it waits for', () => {
    const checks = [checkOf('e2e', 'running'), checkOf('lint', 'queued')]
    const known = pullOf({ waiting_for: ['checks'], checks })
    expect(at({ pullRequest: { ...pullRequest, known } })).toMatchObject({
      says: 'Waiting for 2 checks',
      button: 'Waiting for 2 checks',
      cannot: { merge_pull: 'Waiting for 2 checks' },
    })
  })
  test('sends the work back where only more of it helps', () => {
    const known = pullOf({ waiting_for: ['checks', 'threads'], checks: [checkOf('e2e', 'failed')] })
    expect(at({ pullRequest: { ...pullRequest, known } })).toMatchObject({
      says: 'e2e failed',
      tone: 'fail',
      button: 'Request changes…',
      can: ['await_pull', 'move'],
    })
  })
  test('opens one where there is none', () => {
    const none = { ...pullRequest, ref: null, known: null }
    expect(at({ pullRequest: none, task: { pull_request: null } })?.button).toBe('Open pull request')
  })
  test('shows a push that failed, and does it again', () => {
    const task = { pull_request: null, ...annotated('hook_failed', { recovery_actions: ['retry_hook'] }) }
    expect(at({ pullRequest: { ...pullRequest, ref: null, known: null }, task })).toMatchObject({
      says: 'The pull request couldn’t be opened',
      button: 'Retry hook',
      can: ['see', 'request_changes', 'move'],
    })
  })
  test('lets nothing be changed without a connection, but seen', () => {
    const known = pullOf({ waiting_for: ['checks'], checks: [checkOf('e2e', 'running')] })
    const offline = at({ pullRequest: { ...pullRequest, known }, changeRefusal: 'Offline' })
    expect(offline).toMatchObject({ button: 'Waiting for 1 check', can: [] })
  })
})
