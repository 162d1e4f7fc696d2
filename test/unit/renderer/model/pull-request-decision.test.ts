import { expect, test } from 'vitest'
import { decidePullRequest, type PullRequestFacts } from '../../../../src-renderer/model/pull-request-decision.ts'
import { unknownCan, type PullRequest, type PullRequestState } from '../../../../src-shared/contract/pull-requests.ts'
import { checkOf, pullOf } from '../pull-request-fixture.ts'

const { number, url } = pullOf()

/** The sentence, the next step, and the other actions that are possible and that aren’t. */
function shown(
  state: PullRequestState | null,
  known: Partial<PullRequest> | null,
  more: Partial<PullRequestFacts> = {},
) {
  const decision = decidePullRequest({
    ref: state === null ? null : { number, url, state },
    known: state === null || known === null ? null : pullOf({ state, ...known }),
    forge: 'GitHub',
    can: unknownCan,
    off: null,
    unready: null,
    ...more,
  })
  const possible = decision.actions.filter(({ refused }) => refused === null)
  return {
    says: decision.sentence.text,
    next: possible[0]?.label,
    can: possible.slice(1).map(({ id }) => id),
    cannot: Object.fromEntries(
      decision.actions.flatMap(({ id, refused }) => (refused === null ? [] : [[id, refused]])),
    ),
  }
}
const running = [checkOf('e2e', 'running'), checkOf('lint', 'queued')]

test('offers to open one, unless it is off or nothing is reviewed', () => {
  expect(shown(null, null)).toEqual({ says: 'No pull request yet', next: 'Open pull request', can: [], cannot: {} })
  const unready = 'Pass the review first'
  expect(shown(null, null, { unready }).cannot).toEqual({ open_pull: unready })
  expect(shown(null, null, { unready, off: 'It is off' }).cannot).toEqual({ open_pull: 'It is off' })
})

test('says what an open one waits for, and merges it once nothing is in the way', () => {
  expect(shown('open', { waiting_for: ['checks'], checks: running })).toEqual({
    says: 'Waiting for 2 checks',
    next: 'Waiting for 2 checks',
    can: [],
    cannot: { merge_pull: 'Waiting for 2 checks' },
  })
  expect(shown('open', {})).toEqual({ says: '#431 can be merged', next: 'Merge on GitHub', can: [], cannot: {} })
  expect(shown('open', {}, { off: 'It is off' }).cannot).toEqual({ merge_pull: 'It is off' })
  expect(shown('open', null)).toMatchObject({ next: 'Show #431', cannot: { merge_pull: 'It is still loading' } })
})

test('lets the forge merge it later where it can, but not what only work or a person ends', () => {
  const auto = { can: { ...unknownCan, auto_merge: true } }
  expect(shown('open', { waiting_for: ['checks'], checks: running }, auto).can).toEqual(['merge_pull_later'])
  expect(shown('open', { waiting_for: ['conflict'] }, auto).cannot).toEqual({
    merge_pull_later: 'Conflicts with main',
    merge_pull: 'Conflicts with main',
  })
  // In the queue already.
  expect(shown('open', { waiting_for: ['queue'] }, { can: { ...unknownCan, queue: true } }).can).toEqual([])
})

test('asks to make a draft ready as soon as only that is left', () => {
  expect(shown('draft', { waiting_for: ['draft'] })).toMatchObject({ says: 'Still a draft', next: 'Mark as ready' })
  expect(shown('draft', { waiting_for: ['draft', 'forge'], mergeable: null }).next).toBe('Mark as ready')
  expect(shown('draft', { waiting_for: ['checks', 'draft'], checks: running })).toMatchObject({
    next: 'Waiting for 2 checks',
    can: ['ready_pull'],
  })
  expect(shown('draft', { waiting_for: ['draft'] }, { can: { ...unknownCan, draft: false } }).cannot).toMatchObject({
    ready_pull: 'Mark it as ready on GitHub',
  })
})

test('reopens a closed one, and only shows a merged one', () => {
  expect(shown('closed', {})).toMatchObject({ says: '#431 was closed without merging', next: 'Reopen #431' })
  expect(shown('merged', {})).toMatchObject({ says: '#431 was merged', next: 'Show #431', cannot: {} })
})
