import { expect, test } from 'vitest'
import { json, startTracker, type Answer } from '../../helpers/fake-tracker.ts'
import { startIntegrationJob, type IntegrationJob } from '../../helpers/integration-job.ts'
import { createLogLines } from '../../helpers/log-lines.ts'
import { refused } from '../../helpers/refusal.ts'

const html: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>')
}
const cut: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' }).write('[{"number":')
  setImmediate(() => response.destroy())
}
const redirect = (to: string, status = 302): Answer => json(status, { message: 'Found' }, { location: to })

test.each<[string, string, Answer]>([
  ['a token that is not accepted', 'unauthorized', json(401, { message: 'Bad credentials' })],
  ['a token without rights', 'forbidden', json(403, { message: 'Resource not accessible' })],
  ['an abuse limit', 'rate_limited', json(403, { message: 'secondary rate limit' }, { 'retry-after': '60' })],
  [
    'a used-up limit',
    'rate_limited',
    json(403, {}, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999999999' }),
  ],
  ['too many requests', 'rate_limited', json(429, {}, { 'retry-after': '60' })],
  ['too many requests and no word of when', 'rate_limited', json(429, {})],
  ['a deleted repository', 'not_found', json(404, { message: 'Not Found' })],
  ['issues that are switched off', 'not_found', json(410, { message: 'Issues are disabled for this repo' })],
  ['a broken tracker', 'tracker_failed', json(503, { message: 'unicorn' })],
  ['an unknown status', 'bad_response', json(418, {})],
  ['a sign-in page', 'bad_response', html],
  ['half an answer', 'unreachable', cut],
  ['something that is no list', 'bad_response', json(200, { message: 'hello' })],
  ['a redirect without an end', 'bad_response', redirect('/repos/octo/hello/issues')],
  ['a redirect to nowhere', 'other_host', redirect('https://127.0.0.1:1/')],
])('reports %s as failure of the cycle with %s, and continues with the next', async (_what, reason, answer) => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', [{ number: 1, title: 'One' }])
  await at.integrate()
  at.tracker.instead = () => answer
  const refusal = await refused(at.sync())
  expect({ code: refusal.code, status: refusal.status, details: refusal.details }).toEqual({
    code: 'external_sync_failed',
    status: 502,
    details: { reason },
  })
  const failed = await at.integration()
  expect(failed).toMatchObject({ enabled: true, last_polled_at: null, syncing: false, last_error: { reason } })
  expect(failed.last_error?.message).toBe(refusal.message)
  expect(await eventsOf(at, 'ExternalSyncFailed')).toMatchObject([{ integration_id: failed.id, reason }])
  at.tracker.instead = null
  if (reason === 'rate_limited') return
  expect(await at.sync()).toEqual({ imported: 1, skipped: 0, errors: 0 })
  expect((await at.integration()).last_error).toBeNull()
})

test('names an unset or empty variable, without a value', async () => {
  await using at = await startIntegrationJob()
  await at.integrate({ token_secret_ref: 'COPSE_TEST_NOT_SET' })
  const missing = await refused(at.sync())
  expect(missing.details).toEqual({ reason: 'missing_secret' })
  expect(missing.message).toContain('COPSE_TEST_NOT_SET')
  process.env[at.secret] = 'two\nlines'
  await at.job.running.client.call('integrations.update', {
    project_id: at.job.project.id,
    token_secret_ref: at.secret,
  })
  const unusable = await refused(at.sync())
  expect(unusable.details).toEqual({ reason: 'unusable_secret' })
  expect(unusable.message).not.toContain('lines')
  expect(at.tracker.requests).toEqual([])
})

test('shows the token nowhere, even if the tracker repeats it', async () => {
  const lines = createLogLines()
  await using at = await startIntegrationJob({ log: lines.log })
  await at.integrate()
  const { token } = at.tracker
  const answers = [
    json(401, { message: `Bad token ${token}` }, { 'x-token': token }),
    redirect(`https://elsewhere.test/?token=${token}`),
    json(200, [{ number: 1, title: `My token is ${token}`, body: `Bearer ${token}` }]),
  ]
  at.tracker.instead = (_request, nth) => answers[nth - 1] ?? null
  const first = await refused(at.sync())
  const second = await refused(at.sync())
  await at.sync()
  const seen = [
    first.toBody(),
    second.toBody(),
    await allEvents(at),
    await at.integration(),
    await at.tasks(),
    lines.lines,
  ]
  expect(JSON.stringify(seen)).not.toContain(token)
  expect((await at.tasks()).map((task) => task.title)).toEqual(['My token is [redacted]'])
})

test.each<[string, (elsewhere: string) => Answer]>([
  ['a redirect', (elsewhere) => redirect(`${elsewhere}/repos/octo/hello/issues`, 301)],
  [
    'the next page',
    (elsewhere) => json(200, [{ number: 1, title: 'One' }], { link: `<${elsewhere}/?page=2>; rel="next"` }),
  ],
])('does not follow %s to another host', async (_what, answer) => {
  await using at = await startIntegrationJob()
  await using elsewhere = await startTracker()
  await at.integrate()
  at.tracker.instead = () => answer(elsewhere.url)
  expect((await refused(at.sync())).details).toEqual({ reason: 'other_host' })
  expect(elsewhere.requests).toEqual([])
})

test.each([
  ['to itself', (page: number) => page],
  ['back to the second', (page: number) => (page < 3 ? page + 1 : 2)],
])('ends with pages that lead %s', async (_where, next) => {
  await using at = await startIntegrationJob()
  await at.integrate()
  at.tracker.instead = (request) => {
    const page = Number(request.query['page'] ?? 1)
    const link = `<${at.tracker.url}${request.path}?page=${next(page)}>; rel="next"`
    return json(200, [{ number: page, title: `Page ${page}` }], { link })
  }
  expect((await refused(at.sync())).details).toEqual({ reason: 'bad_response' })
  expect(at.tracker.requests.length).toBeLessThan(6)
})

test('stops after 1,000 pages, says so, and keeps what was read', async () => {
  await using at = await startIntegrationJob()
  await at.integrate()
  at.tracker.instead = (request) => {
    const page = Number(request.query['page'] ?? 1)
    const link = `<${at.tracker.url}${request.path}?page=${page + 1}>; rel="next"`
    return json(200, [{ number: page % 100 === 1 ? page : 1, title: `Page ${page}` }], { link })
  }
  const refusal = await refused(at.sync())
  expect(refusal.details).toEqual({ reason: 'bad_response' })
  expect(refusal.message).toContain('1,000 pages')
  expect(at.tracker.requests.length).toBeLessThanOrEqual(1_001)
  expect(await at.tasks()).toHaveLength(10)
})

test('continues with a renamed repository, without a second task for any issue', async () => {
  await using at = await startIntegrationJob()
  const { tracker, job } = at
  tracker.repositories.set('octo/hello', [{ number: 1, title: 'One' }])
  await at.integrate()
  await at.sync()
  tracker.repositories.delete('octo/hello')
  tracker.repositories.set('octo/welcome', [
    { number: 1, title: 'One' },
    { number: 2, title: 'Two' },
  ])
  tracker.renamed.set('octo/hello', 'octo/welcome')
  expect(await at.sync()).toEqual({ imported: 1, skipped: 1, errors: 0 })
  await job.running.client.call('integrations.update', { project_id: job.project.id, repo: 'welcome' })
  expect(await at.sync()).toEqual({ imported: 0, skipped: 2, errors: 0 })
  await job.running.client.call('integrations.update', { project_id: job.project.id, repo: 'other' })
  tracker.repositories.set('octo/other', [{ number: 1, title: 'Another' }])
  expect(await at.sync()).toEqual({ imported: 1, skipped: 0, errors: 0 })
})

async function allEvents({ job }: IntegrationJob) {
  const stop = new AbortController()
  const events: { type: string; data: unknown }[] = []
  // The last write shows that everything before it has arrived.
  const last = await job.task({ title: 'The last one' })
  for await (const item of job.running.client.events({}, 0, stop.signal)) {
    if (item.kind !== 'event') continue
    if (item.event.type === 'task.created' && item.event.data.task_id === last.id) break
    events.push(item.event)
  }
  stop.abort()
  await job.running.client.call('tasks.delete', { task_id: last.id })
  return events
}

async function eventsOf(at: IntegrationJob, type: string): Promise<unknown[]> {
  return (await allEvents(at)).filter((event) => event.type === type).map((event) => event.data)
}
