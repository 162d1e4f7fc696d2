import { expect, test } from 'vitest'
import { TrackerError, type PageRequest } from '../../../src-main/ports/issue-trackers.ts'
import { createIssueTrackers } from '../../../src-main/integrations/forges/create-issue-trackers.ts'
import type { HttpOptions } from '../../../src-main/integrations/forges/http.ts'
import { json, startTracker, type Answer, type FakeTracker } from '../../helpers/fake-tracker.ts'

const trackers = (tracker: FakeTracker, more: Partial<HttpOptions> = {}) =>
  createIssueTrackers({ env: { TOKEN: tracker.token }, clock: { now: () => Date.now() }, version: '1.2.3', ...more })

const request = (tracker: FakeTracker, more: Partial<PageRequest> = {}): PageRequest => ({
  source: { platform: 'hosted', base_url: tracker.url, owner: 'octo', repo: 'hello', token_secret_ref: 'TOKEN' },
  url: null,
  state: 'open',
  since: null,
  etag: null,
  page_size: 100,
  ...more,
})

const open = () => ({ signal: new AbortController().signal })

async function failureOf(answer: Promise<unknown>): Promise<string> {
  try {
    await answer
  } catch (error) {
    if (error instanceof TrackerError) return error.code
    throw error
  }
  throw new Error('It was answered.')
}

/** Begins an answer and continues a little at a time, forever. */
const drip =
  (piece: string, every: number): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(piece), every)
    response.on('close', () => clearInterval(timer))
  }

test('gives up a tracker that never answers, or never ends its answer', async () => {
  await using tracker = await startTracker()
  for (const answer of [() => undefined, drip(' ', 5)]) {
    tracker.instead = () => answer
    expect(await failureOf(trackers(tracker, { timeout_ms: 150 }).page(request(tracker), open()))).toBe('timed_out')
  }
})

test('gives up a silent tracker long before a slow one', async () => {
  await using tracker = await startTracker()
  const patient = trackers(tracker, { silence_ms: 150, timeout_ms: 60_000 })
  const begun: Answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).write('[')
  for (const answer of [() => undefined, begun]) {
    tracker.instead = () => answer
    expect(await failureOf(patient.page(request(tracker), open()))).toBe('timed_out')
  }
})

test('does not read an answer larger than a page to its end', async () => {
  await using tracker = await startTracker()
  const limited = trackers(tracker, { max_bytes: 10_000 })
  tracker.instead = () => drip('x'.repeat(4_000), 1)
  expect(await failureOf(limited.page(request(tracker), open()))).toBe('too_large')
  tracker.instead = () => json(200, ['x'.repeat(20_000)], { 'content-length': '20004' })
  expect(await failureOf(limited.page(request(tracker), open()))).toBe('too_large')
})

test('reports a missing tracker as unreachable', async () => {
  const gone = await startTracker()
  await gone[Symbol.asyncDispose]()
  expect(await failureOf(trackers(gone).page(request(gone), open()))).toBe('unreachable')
})

test('rejects a cancelled request with the caller’s reason', async () => {
  await using tracker = await startTracker()
  const stop = new AbortController()
  tracker.instead = () => () => stop.abort()
  await expect(trackers(tracker).page(request(tracker), { signal: stop.signal })).rejects.toMatchObject({
    name: 'AbortError',
  })
})

test('sends its name and API version, and asks for the oldest first', async () => {
  await using tracker = await startTracker()
  tracker.repositories.set('octo/hello', [])
  await trackers(tracker).page(request(tracker, { since: '2026-01-01T00:00:00.000Z', etag: '"e"' }), open())
  const [seen] = tracker.requests
  expect(seen?.query).toEqual({
    state: 'open',
    sort: 'created',
    direction: 'asc',
    per_page: '100',
    since: '2026-01-01T00:00:00.000Z',
  })
  expect(seen?.headers).toMatchObject({
    'user-agent': 'copse/1.2.3',
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    'if-none-match': '"e"',
    authorization: `Bearer ${tracker.token}`,
  })
})

test('counts pages by the last page’s address or the total', async () => {
  await using tracker = await startTracker()
  const issues = Array.from({ length: 120 }, (_, index) => ({ number: index + 1, title: 'x' }))
  tracker.repositories.set('octo/hello', issues)
  const { source } = request(tracker)
  const selfhosted = { source: { ...source, platform: 'selfhosted' as const } }
  expect((await trackers(tracker).page(request(tracker), open())).pages_total).toBe(2)
  expect((await trackers(tracker).page(request(tracker, selfhosted), open())).pages_total).toBe(3)
  tracker.instead = () => json(200, [{ number: 1, title: 'x' }], { 'x-total-count': '101' })
  expect((await trackers(tracker).page(request(tracker, selfhosted), open())).pages_total).toBe(3)
})
