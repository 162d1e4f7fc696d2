import { expect, test } from 'vitest'
import { json, type FakeIssue } from '../../helpers/fake-tracker.ts'
import { startIntegrationJob, type IntegrationJob } from '../../helpers/integration-job.ts'
import { refused } from '../../helpers/refusal.ts'

const issues = (count: number): FakeIssue[] =>
  Array.from({ length: count }, (_, index) => ({ number: index + 1, title: `Issue ${index + 1}` }))

const pages = ({ tracker }: IntegrationJob) => tracker.requests.map(({ query }) => Number(query['page'] ?? 1))

test('continues an interrupted cycle at the page where it stopped', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', issues(450))
  at.tracker.instead = (request) => (request.query['page'] === '4' ? json(502, {}) : null)
  await at.integrate()
  expect((await refused(at.sync())).details).toEqual({ reason: 'tracker_failed' })
  expect(await at.integration()).toMatchObject({
    last_polled_at: null,
    last_error: { reason: 'tracker_failed' },
    progress: { pages: 3, pages_total: 5, imported: 300, skipped: 0, errors: 0 },
  })
  at.tracker.instead = null
  expect(await at.sync()).toEqual({ imported: 450, skipped: 0, errors: 0 })
  expect(pages(at)).toEqual([1, 2, 3, 4, 4, 5])
  expect((await at.tasks()).map((task) => task.external_issue_number)).toEqual(issues(450).map(({ number }) => number))
  expect(await at.integration()).toMatchObject({ last_error: null, progress: null })
})

test('continues the import after a restart, with no issue twice', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', issues(450))
  const { promise: reached, resolve: reach } = Promise.withResolvers<null>()
  // The fourth page is never answered.
  at.tracker.instead = (request) => (request.query['page'] === '4' && !stopped ? () => reach(null) : null)
  let stopped = false
  await at.integrate()
  const ended = refused(at.sync()).catch(() => null)
  await reached
  stopped = true
  at.job.running = await at.job.running.restart()
  await ended
  await at.job.running.eventually(at.integration, (one) => one.last_polled_at !== null)
  expect(pages(at)).toEqual([1, 2, 3, 4, 4, 5])
  expect(await at.tasks()).toHaveLength(450)
})

test('waits for a used-up rate limit, also for a manual sync', async () => {
  let time = Date.parse('2026-11-21T09:00:00Z')
  await using at = await startIntegrationJob({ clock: { now: () => (time += 1) } })
  at.tracker.repositories.set('octo/hello', issues(250))
  await at.integrate()
  at.tracker.headers = { date: new Date(time).toUTCString(), 'x-ratelimit-remaining': '0' }
  at.tracker.headers = { ...at.tracker.headers, 'x-ratelimit-reset': String(Math.floor(time / 1_000) + 600) }
  expect((await refused(at.sync())).details).toEqual({ reason: 'rate_limited' })
  expect(await at.tasks()).toHaveLength(100)
  const waiting = await at.integration()
  expect(Math.abs(Date.parse(waiting.next_poll_at ?? '') - time - 600_000)).toBeLessThan(5_000)
  expect((await refused(at.sync())).details).toEqual({ reason: 'rate_limited' })
  expect(pages(at)).toEqual([1])
  time += 601_000
  at.tracker.headers = {}
  expect(await at.sync()).toEqual({ imported: 250, skipped: 0, errors: 0 })
  expect(pages(at)).toEqual([1, 2, 3])
})

test('asks for smaller pages if they are too large', async () => {
  await using at = await startIntegrationJob()
  const huge = 'x'.repeat(5_000_000)
  at.tracker.repositories.set(
    'octo/hello',
    issues(12).map((issue) => ({ ...issue, body: huge })),
  )
  await at.integrate()
  expect(await at.sync()).toEqual({ imported: 12, skipped: 0, errors: 0 })
  expect(at.tracker.requests.map(({ query }) => query['per_page']).slice(0, 3)).toEqual(['100', '10', '1'])
  const [task] = await at.tasks()
  expect(task?.description?.endsWith(`${at.tracker.url}/octo/hello/issues/1`)).toBe(true)
})

test('ends a cycle whose settings change, and reads from the start', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', issues(150))
  const { promise: reached, resolve: reach } = Promise.withResolvers<null>()
  at.tracker.instead = (request) => (request.query['page'] === '2' ? () => reach(null) : null)
  await at.integrate()
  const first = refused(at.sync())
  await reached
  const project_id = at.job.project.id
  await at.job.running.client.call('integrations.update', { project_id, sync_filter: { labels: ['none'] } })
  expect((await first).details).toEqual({ reason: 'interrupted' })
  at.tracker.instead = null
  expect(await at.sync()).toEqual({ imported: 0, skipped: 0, errors: 0 })
  expect((await at.tasks()).length).toBeLessThanOrEqual(100)
})
