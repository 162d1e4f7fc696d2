import { expect, test } from 'vitest'
import {
  progressOf,
  syncStatus,
  syncSentence,
  untilWords,
} from '../../../../src-renderer/features/integrations/integration-text.ts'
import { issuePlace } from '../../../../src-renderer/features/task/issue-place.ts'
import type { Integration, SyncFailure } from '../../../../src-shared/contract/integrations.ts'
import { integrationOf } from './integration-fixture.ts'

const failed = (reason: SyncFailure) => ({
  last_error: { reason, message: 'What to do.', occurred_at: '2026-11-21T09:00:00.000Z' },
})

test.each<[Partial<Integration>, boolean, string]>([
  [{}, false, 'Up to date'],
  [{}, true, 'Importing'],
  [{ syncing: true, ...failed('timed_out') }, false, 'Importing'],
  [{ last_polled_at: null }, false, 'Not synced yet'],
  [{ enabled: false, ...failed('timed_out') }, false, 'Off'],
  [failed('missing_secret'), false, 'Failed'],
  [failed('rate_limited'), false, 'Waiting for the tracker'],
])('%j, busy %o: %s', (more, busy, label) => {
  expect(syncStatus(integrationOf(more), busy).label).toBe(label)
})

test('shows the progress of an import, and its part if known', () => {
  const progress = { started_at: '2026-11-21T09:00:00.000Z', pages: 12, imported: 1_150, skipped: 3, errors: 0 }
  expect(progressOf({ progress: null })).toBeNull()
  expect(progressOf({ progress: { ...progress, pages_total: 48 } })).toEqual({
    text: 'Page 12 of 48 · 1,150 issues imported',
    part: 0.25,
  })
  expect(progressOf({ progress: { ...progress, pages_total: null } })).toEqual({
    text: 'Page 12 · 1,150 issues imported',
    part: null,
  })
})

test('reports what a manual sync did', () => {
  expect(syncSentence({ imported: 1, skipped: 0, errors: 0 })).toBe('1 issue imported')
  expect(syncSentence({ imported: 0, skipped: 4, errors: 0 })).toBe('No new issues, 4 already imported')
  expect(syncSentence({ imported: 12, skipped: 4, errors: 2 })).toBe(
    '12 issues imported, 4 already imported, 2 could not be read',
  )
})

test('names an issue’s repository and host', () => {
  expect(issuePlace('https://git.test/forge/acme/shop/issues/7')).toEqual({ repository: 'acme/shop', host: 'git.test' })
  expect(issuePlace('https://git.test/acme')).toBeNull()
  expect(issuePlace('nowhere')).toBeNull()
})

test.each([
  [-5_000, 'any moment'],
  [20_000, 'in 1 min'],
  [300_000, 'in 5 min'],
  [7_200_000, 'in 2 h'],
])('shows what comes in %i ms as %s', (wait, words) => {
  const now = Date.parse('2026-11-21T09:00:00.000Z')
  expect(untilWords(new Date(now + wait).toISOString(), now)).toBe(words)
})
