import { describe, expect, test } from 'vitest'
import { forgeName } from '../../../../src-renderer/model/forge-name.ts'
import { pullRequestLine, waitTexts } from '../../../../src-renderer/model/pull-request-text.ts'
import { webAddress } from '../../../../src-renderer/model/web-address.ts'
import type { PullRequest } from '../../../../src-shared/contract/pull-requests.ts'
import { taskOf } from '../task-fixture.ts'
import { checkOf, pullOf, reviewBy, threadOf } from '../pull-request-fixture.ts'

const trouble = { reason: 'unreachable' as const, message: 'No answer.', right: null, url: null, occurred_at: '' }

/** What is said of each wait, on the card and elsewhere, in which tone, and whether a person must act. */
const said: readonly (readonly [Partial<PullRequest>, string, string, string, boolean])[] = [
  [{ waiting_for: ['conflict'], mergeable: false }, 'Conflicts with main', '#431 conflicts with main', 'fail', true],
  [
    {
      waiting_for: ['checks'],
      checks: [checkOf('e2e', 'queued'), checkOf('lint', 'running'), checkOf('ok', 'passed')],
    },
    'Waiting for 2 checks',
    '#431 waits for 2 checks',
    'run',
    false,
  ],
  [
    { waiting_for: ['checks'], checks: [checkOf('e2e', 'queued'), checkOf('docs', 'running', { required: false })] },
    'Waiting for 1 check',
    '#431 waits for 1 check',
    'run',
    false,
  ],
  [
    { waiting_for: ['stack'], below: { task_id: taskOf(2).id, number: 430 } },
    'Waiting for #430',
    '#431 waits for #430',
    'neutral',
    false,
  ],
  [
    { waiting_for: ['stack'], below: { task_id: taskOf(2).id, number: null } },
    'Waiting for the task below',
    '#431 waits for the task below',
    'neutral',
    false,
  ],
  // While others run, more may fail, so nobody has to act yet.
  [
    { waiting_for: ['checks'], checks: [checkOf('e2e', 'failed'), checkOf('lint', 'running')] },
    'e2e failed',
    '#431: e2e failed',
    'fail',
    false,
  ],
  [
    { waiting_for: ['checks'], checks: [checkOf('e2e', 'failed'), checkOf('lint', 'failed', { required: null })] },
    '2 checks failed',
    '#431: 2 checks failed',
    'fail',
    true,
  ],
  [
    { waiting_for: ['checks'], checks: [checkOf('e2e', 'failed', { inherited: true })] },
    'e2e fails on main too',
    '#431: e2e fails on main too',
    'warn',
    true,
  ],
  [
    { waiting_for: ['checks'], checks: [checkOf('e2e', 'cancelled')] },
    'e2e was cancelled',
    '#431: e2e was cancelled',
    'warn',
    true,
  ],
  [
    { waiting_for: ['threads'], threads: [threadOf('t1', ['rita']), threadOf('t2', ['rita', 'copse'])] },
    '1 thread is open',
    '#431 has 1 open thread',
    'you',
    true,
  ],
  [
    { waiting_for: ['threads'], threads: [threadOf('t1', ['rita']), threadOf('t2', ['copse', 'rita'])] },
    '2 threads are open',
    '#431 has 2 open threads',
    'you',
    true,
  ],
  [
    { waiting_for: ['approval'], reviews: [reviewBy('Rita', 'changes_requested'), reviewBy('Mara', 'approved')] },
    'Rita requests changes',
    '#431: Rita requests changes',
    'you',
    true,
  ],
  [
    { waiting_for: ['approval'], reviews: [reviewBy('Rita', 'requested'), reviewBy('Mara', 'requested')] },
    'Waiting for approval by Rita and Mara',
    '#431 waits for approval by Rita and Mara',
    'neutral',
    false,
  ],
  [{ waiting_for: ['approval'] }, 'Waiting for an approval', '#431 waits for an approval', 'neutral', false],
  [{ waiting_for: ['draft'], state: 'draft' }, 'Still a draft', '#431 is a draft', 'you', true],
  [{ waiting_for: ['queue'] }, 'In the merge queue', '#431 is in the merge queue', 'run', false],
  [
    { waiting_for: ['review'] },
    'Has commits that Copse didn’t push',
    '#431 has commits that Copse didn’t push',
    'you',
    true,
  ],
  [{ waiting_for: ['forge'], mergeable: null }, 'Waiting for GitHub', '#431 waits for GitHub', 'neutral', false],
  [{ waiting_for: ['forge'], last_error: trouble }, 'Couldn’t ask GitHub', '#431: couldn’t ask GitHub', 'warn', false],
]

test.each(said)('says of %j what it waits for', (more, text, line, tone, needsYou) => {
  expect(waitTexts(pullOf(more), 'GitHub')).toEqual([{ wait: more.waiting_for?.[0], text, line, tone, needsYou }])
})

test('keeps the order of the service, and shows no invisible character of a name', () => {
  const hostile = checkOf('e2e\u202e', 'failed')
  const pull = pullOf({ waiting_for: ['checks', 'threads'], checks: [hostile], threads: [threadOf('t1', ['rita'])] })
  expect(waitTexts(pull, 'GitHub').map(({ text }) => text)).toEqual(['e2e<U+202E> failed', '1 thread is open'])
})

describe('the line of a card', () => {
  const ref = { number: 431, url: pullOf().url, state: 'open' as const }
  const line = (state: PullRequest['state'], known: PullRequest | null) =>
    pullRequestLine({ ...ref, state }, known, 'GitHub')

  test('says only that it is open while it isn’t loaded', () => {
    expect(line('open', null)).toEqual({ text: '#431 open', tone: 'neutral', needsYou: false })
    expect(line('draft', null)).toEqual({ text: '#431 is a draft', tone: 'neutral', needsYou: false })
    // What is known of another one says nothing of this.
    expect(line('open', pullOf({ number: 7, waiting_for: ['conflict'] }))).toMatchObject({ text: '#431 open' })
    expect(line('open', pullOf({ state: 'closed' }))).toMatchObject({ text: '#431 open' })
  })
  test('says first what comes first, and that nothing is in the way', () => {
    const both = pullOf({ waiting_for: ['conflict', 'draft'] })
    expect(line('open', both)).toEqual({ text: '#431 conflicts with main', tone: 'fail', needsYou: true })
    expect(line('open', pullOf())).toEqual({ text: '#431 can be merged', tone: 'ok', needsYou: true })
  })
  test('says that it is over, whatever it waited for', () => {
    const waiting = pullOf({ waiting_for: ['conflict'] })
    expect(line('closed', waiting)).toEqual({ text: '#431 closed', tone: 'you', needsYou: true })
    expect(line('merged', waiting)).toEqual({ text: '#431 merged', tone: 'neutral', needsYou: false })
  })
})

test('names a forge by its label, and one that people run themselves by its host', () => {
  expect(forgeName('hosted', 'https://ghe.example.com/a/b/pull/1')).toBe('GitHub')
  expect(forgeName('selfhosted', 'https://git.example.com/a/b/pulls/1')).toBe('git.example.com')
  expect(forgeName('gitlab', 'https://code.example.com/a/b/-/merge_requests/1')).toBe('GitLab')
  expect(forgeName(null, 'https://github.com/a/b/pull/1')).toBe('GitHub')
  expect(forgeName(null, 'http://127.0.0.1:3000/a/b/pulls/1')).toBe('127.0.0.1:3000')
  expect(forgeName('selfhosted', '')).toBe('Gitea or Forgejo')
})

test('opens no address but that of a page', () => {
  expect(webAddress('https://example.com/a')).toBe('https://example.com/a')
  for (const bad of ['javascript:alert(1)', 'file:///etc/passwd', 'copse://task/1', 'no address', null])
    expect(webAddress(bad), String(bad)).toBeNull()
})
