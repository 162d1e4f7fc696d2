import { expect, test } from 'vitest'
import {
  needOf,
  sortChecks,
  threadsByFile,
} from '../../../../src-renderer/features/pull-request/pull-request-labels.ts'
import { waySteps } from '../../../../src-renderer/features/pull-request/way-steps.ts'
import { unknownCan, type PullRequest } from '../../../../src-shared/contract/pull-requests.ts'
import { taskOf } from '../task-fixture.ts'
import { checkOf, pullOf, reviewBy, threadOf } from '../pull-request-fixture.ts'

const way = (more: Partial<PullRequest>, can = unknownCan) =>
  waySteps(pullOf(more), 'GitHub', can).map(({ id, glyph, end }) => `${id} ${glyph} ${end}`.trim())

test('lists the way into the target: what is done, what holds it up, what is still to come', () => {
  const more = {
    checks: [checkOf('a', 'passed'), checkOf('b', 'failed'), checkOf('c', 'failed', { required: false })],
    threads: [threadOf('t1', ['rita']), threadOf('t2', ['rita'], { resolved: true })],
    reviews: [reviewBy('Rita', 'approved')],
  }
  expect(way(more)).toEqual([
    'opened terminal',
    'checks failed 1 failed',
    'threads gate 1 of 2',
    'approved terminal Rita',
    'merged waiting',
  ])
})

test('tells each state of each step', () => {
  expect(way({ checks: [checkOf('a', 'running'), checkOf('b', 'passed')] })).toContain('checks running 1 of 2')
  expect(way({ checks: [checkOf('a', 'failed', { inherited: true })] })).toContain('checks clock 1 not by this change')
  expect(way({})).toContain('checks waiting none yet')
  expect(way({ state: 'draft' })).toContain('ready gate draft')
  expect(way({ mergeable: false })).toContain('conflicts failed with main')
  expect(way({ mergeable: null })).toContain('conflicts waiting not known yet')
  // Ours is the last word, so the others have the next.
  expect(way({ threads: [threadOf('t1', ['rita', 'copse'])] })).toContain('threads waiting 0 of 1')
  const wanting = { waiting_for: ['approval' as const], reviews: [reviewBy('Rita', 'changes_requested')] }
  expect(way(wanting)).toContain('approved gate Rita wants changes')
  expect(way({ waiting_for: ['approval'], reviews: [reviewBy('Rita', 'requested')] })).toContain(
    'approved waiting Rita',
  )
  expect(way({ below: { task_id: taskOf(2).id, number: 430 } })).toContain('below waiting not yet')
  expect(way({ waiting_for: ['queue'] })).toContain('queue running')
  expect(way({}, { ...unknownCan, queue: true })).toContain('queue waiting not yet')
  expect(way({ state: 'merged', merge_commit: 'a91f3c0aaaa' })).toEqual(['opened terminal', 'merged terminal a91f3c0'])
  expect(way({ state: 'closed' })).toEqual(['opened terminal', 'merged cancelled closed instead'])
})

test('puts what fails first, and says whether the merge needs it', () => {
  const checks = [
    checkOf('passed', 'passed'),
    checkOf('optional', 'failed', { required: false }),
    checkOf('red', 'failed'),
    checkOf('running', 'running'),
  ]
  expect(sortChecks(checks).map(({ name }) => name)).toEqual(['red', 'optional', 'running', 'passed'])
  expect(needOf(checkOf('a', 'failed'), 'main')).toBe('Required')
  expect(needOf(checkOf('a', 'passed', { required: false }), 'main')).toBe('Optional')
  expect(needOf(checkOf('a', 'passed', { required: null }), 'main')).toBeNull()
  expect(needOf(checkOf('a', 'failed', { inherited: true }), 'main')).toBe('Fails on main too')
})

test('groups threads by file in the order of their lines, and says where each stands', () => {
  const files = threadsByFile([
    threadOf('t1', ['rita'], { path: 'b.ts', line: 9 }),
    threadOf('t2', ['rita'], { path: 'b.ts', line: 2, resolved: true }),
    threadOf('t3', ['rita'], { path: null, line: null }),
  ])
  expect(files.map(({ path, threads, open }) => [path, threads.map(({ id }) => id), open])).toEqual([
    [null, ['t3'], 1],
    ['b.ts', ['t2', 't1'], 1],
  ])
})
