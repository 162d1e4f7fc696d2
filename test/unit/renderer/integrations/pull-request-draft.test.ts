import { expect, test } from 'vitest'
import {
  pullRequestDraft,
  pullRequestProblem,
  pullRequestSettings,
  sameSettings,
  writeBackDraft,
  writeBackSettings,
} from '../../../../src-renderer/features/integrations/pull-request-draft.ts'
import { cannotText, expiryText } from '../../../../src-renderer/features/integrations/token-text.ts'
import { forgeTrouble, pushOutput } from '../../../../src-renderer/model/forge-trouble.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import {
  noPullRequests,
  noWriteBack,
  PullRequestSettings,
  unknownCan,
} from '../../../../src-shared/contract/pull-requests.ts'

const all: PullRequestSettings = {
  enabled: true,
  draft: true,
  target_branch: 'next',
  remote: 'upstream',
  fork: 'mara/shop',
  labels: ['bot', 'needs review'],
  reviewers: ['rita'],
  title: '{title} ({task})',
  body: 'By {task}',
  delete_branch: true,
  method: 'squash',
  auto_merge: true,
  auto_fix: { enabled: true, max_rounds: 3, from: 'anyone', also: ['reviewbot'], resolve: true },
}

test('sends every setting, so that a change loses none', () => {
  for (const settings of [all, noPullRequests]) {
    const sent = pullRequestSettings(pullRequestDraft(settings), settings.enabled)
    expect(sent).toEqual(settings)
    expect(PullRequestSettings.parse(sent)).toEqual(settings)
  }
  const write = { comment: true, close: true, label: 'in progress', follow: true }
  expect(writeBackSettings(writeBackDraft(write))).toEqual(write)
  expect(writeBackSettings(writeBackDraft(noWriteBack))).toEqual(noWriteBack)
})

test('reads lists and empty fields as people write them', () => {
  const draft = { ...pullRequestDraft(noPullRequests), labels: ' bug, , help wanted ', target: '  ', fork: ' a/b ' }
  expect(pullRequestSettings(draft, false)).toMatchObject({
    labels: ['bug', 'help wanted'],
    target_branch: null,
    fork: 'a/b',
  })
  expect(sameSettings(pullRequestSettings(draft, false), noPullRequests)).toBe(false)
})

test('says what is wrong before it is sent', () => {
  const draft = pullRequestDraft(all)
  expect(pullRequestProblem(draft)).toBeNull()
  expect(pullRequestProblem({ ...draft, fork: 'mara' })).toBe('Enter the fork as owner/name')
  for (const rounds of [0, 101, 1.5, Number.NaN])
    expect(pullRequestProblem({ ...draft, rounds })).toBe('Enter 1 to 100 rounds')
  expect(pullRequestProblem({ ...draft, fix: false, rounds: 0 })).toBeNull()
})

test('says what can’t be done over the connection', () => {
  expect(cannotText(unknownCan)).toBeNull()
  expect(cannotText({ ...unknownCan, checks: 'all', reply: true })).toBeNull()
  expect(cannotText({ ...unknownCan, resolve: false })).toBe('Copse can’t resolve threads here.')
  expect(cannotText({ ...unknownCan, checks: 'some', reply: false, queue: false })).toBe(
    'Copse can’t read all checks, reply in threads or use a merge queue here.',
  )
})

test('warns of the end of a token', () => {
  const now = Date.parse('2026-11-21T09:00:00.000Z')
  expect(expiryText(null, now)).toBeNull()
  expect(expiryText('2026-11-20T09:00:00.000Z', now)).toEqual({
    text: 'The token has expired. Create a new one.',
    soon: true,
  })
  expect(expiryText('2026-11-21T20:00:00.000Z', now)?.text).toBe('The token expires within 24 hours.')
  expect(expiryText('2026-11-22T10:00:00.000Z', now)).toEqual({ text: 'The token expires in 1 day.', soon: true })
  expect(expiryText('2027-02-21T09:00:00.000Z', now)).toEqual({ text: 'The token expires in 92 days.', soon: false })
})

test('reads from a refusal which right lacks and where it is given, and what git wrote', () => {
  const message = 'The token may not open pull requests.'
  const details = { reason: 'forbidden', right: 'Pull requests: write', url: 'https://github.com/settings/tokens' }
  expect(forgeTrouble(new ApiError({ code: 'external_sync_failed', message, details }))).toEqual({
    message,
    ...details,
  })
  expect(forgeTrouble(new ApiError({ code: 'external_sync_failed', message }))).toEqual({
    message,
    reason: 'refused',
    right: null,
    url: null,
  })
  expect(forgeTrouble(new ApiError({ code: 'review_not_ready', message }))).toBeNull()
  const output = 'remote: protected branch'
  const rejected = new ApiError({ code: 'push_rejected', message, details: { reason: 'protected', output } })
  expect(pushOutput(rejected)).toBe(output)
  expect(pushOutput(new Error('x'))).toBeNull()
})
