import { expect, test } from 'vitest'
import { startTracker, type FakeIssue } from '../../helpers/fake-tracker.ts'
import { startIntegrationJob } from '../../helpers/integration-job.ts'
import { refused } from '../../helpers/refusal.ts'

const issues = (count: number): FakeIssue[] =>
  Array.from({ length: count }, (_, index) => ({ number: index + 1, title: `Issue ${index + 1}`, body: 'It breaks.' }))

test('imports every open issue of a GitHub repository as one task', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', [
    { number: 3, title: 'It breaks', body: 'See `code`', labels: ['bug', 'ui'] },
    { number: 4, title: 'A change', isPullRequest: true },
    { number: 5, title: 'Long done', state: 'closed' },
    { number: 9, title: 'Nothing to say', body: null },
  ])
  await at.integrate()
  expect(await at.sync()).toEqual({ imported: 2, skipped: 0, errors: 0 })
  expect(
    (await at.tasks()).map(({ title, description, labels, status, external_issue_number, external_issue_url }) => ({
      title,
      description,
      labels,
      status,
      external_issue_number,
      external_issue_url,
    })),
  ).toEqual([
    {
      title: 'It breaks',
      description: 'See `code`',
      labels: ['bug', 'ui'],
      status: 'backlog',
      external_issue_number: 3,
      external_issue_url: `${at.tracker.url}/octo/hello/issues/3`,
    },
    {
      title: 'Nothing to say',
      description: null,
      labels: [],
      status: 'backlog',
      external_issue_number: 9,
      external_issue_url: `${at.tracker.url}/octo/hello/issues/9`,
    },
  ])
  const before = await at.tasks()
  at.tracker.repositories.set('octo/hello', [
    { number: 3, title: 'It breaks, edited', body: 'Never mind', labels: ['wontfix'] },
    { number: 9, title: 'Nothing to say', state: 'closed' },
    { number: 10, title: 'New' },
  ])
  expect(await at.sync()).toEqual({ imported: 1, skipped: 1, errors: 0 })
  expect((await at.tasks()).slice(0, 2)).toEqual(before)
  expect((await at.tasks()).map((task) => task.title)).toEqual(['It breaks', 'Nothing to say', 'New'])
})

test('reads Gitea and Forgejo below /api/v1, even if base_url says so, and links to their pages', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', [
    { number: 1, title: 'One', body: 'x' },
    { number: 2, title: 'A change', isPullRequest: true },
  ])
  await at.integrate({ platform: 'selfhosted', base_url: `${at.tracker.url}/api/v1/` })
  expect(await at.sync()).toEqual({ imported: 1, skipped: 0, errors: 0 })
  expect((await at.tasks()).map((task) => task.external_issue_url)).toEqual([`${at.tracker.url}/octo/hello/issues/1`])
  const [request] = at.tracker.requests
  expect(request?.path).toBe('/api/v1/repos/octo/hello/issues')
  expect(request?.query).toMatchObject({ type: 'issues', state: 'open' })
  expect(request?.headers.authorization).toBe(`token ${at.tracker.token}`)
})

test.each(['hosted', 'selfhosted'] as const)('reads all pages of a %s tracker', async (platform) => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', issues(230))
  await at.integrate({ platform })
  expect(await at.sync()).toEqual({ imported: 230, skipped: 0, errors: 0 })
  expect((await at.tasks()).map((task) => task.external_issue_number)).toEqual(issues(230).map(({ number }) => number))
  expect(at.tracker.requests).toHaveLength(platform === 'hosted' ? 3 : 5)
  expect((await at.integration()).progress).toBeNull()
})

test('asks only for changes after the first cycle, by the earlier of both clocks', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', issues(1))
  at.tracker.headers = { date: 'Sat, 01 Nov 2025 12:00:00 GMT' }
  await at.integrate()
  await at.sync()
  await at.sync()
  expect(at.tracker.requests.map(({ query }) => query['since'])).toEqual([undefined, '2025-11-01T11:59:00.000Z'])
})

test('succeeds when the tracker says "not modified"', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', [{ number: 1, title: 'Old', updated_at: '2020-01-01T00:00:00Z' }])
  await at.integrate()
  expect(await at.sync()).toEqual({ imported: 1, skipped: 0, errors: 0 })
  await at.sync()
  const before = await at.integration()
  expect(await at.sync()).toEqual({ imported: 0, skipped: 0, errors: 0 })
  const [, second, third] = at.tracker.requests
  expect(second?.headers['if-none-match']).toBeUndefined()
  expect(third?.headers['if-none-match']).toMatch(/^"[0-9a-f]{40}"$/)
  expect(third?.query).toEqual(second?.query)
  expect(at.tracker.notModified).toBe(1)
  const after = await at.integration()
  expect(after.last_polled_at !== before.last_polled_at).toBe(true)
  at.tracker.repositories.set('octo/hello', issues(2))
  expect(await at.sync()).toMatchObject({ imported: 1 })
})

test('imports issues with one of the wanted labels', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', [
    { number: 1, title: 'One', labels: ['Bug', 'ui'] },
    { number: 2, title: 'Two', labels: ['ui'] },
    { number: 3, title: 'Three', labels: ['urgent'] },
    { number: 4, title: 'Four' },
  ])
  await at.integrate({ sync_filter: { labels: ['bug', 'urgent'] } })
  expect(await at.sync()).toEqual({ imported: 2, skipped: 0, errors: 0 })
  expect((await at.tasks()).map((task) => task.title)).toEqual(['One', 'Three'])
  await at.job.running.client.call('integrations.update', { project_id: at.job.project.id, sync_filter: {} })
  expect(await at.sync()).toEqual({ imported: 2, skipped: 2, errors: 0 })
})

test('starts imported tasks in the chosen state with the chosen coder', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', issues(1))
  const agent = await at.job.agent('true')
  await at.integrate({ default_task_state: 'todo', default_assignee_type: 'agent', default_assignee_id: agent.id })
  await at.sync()
  const [task] = await at.tasks()
  expect(task).toMatchObject({ status: 'todo', roles: { coder: { type: 'agent', id: agent.id } } })
  await at.job.running.client.call('agents.delete', { agent_id: agent.id })
  expect((await refused(at.sync())).details).toEqual({ reason: 'unknown_assignee' })
})

test('distinguishes repositories of the same name by host, and accepts a person as coder', async () => {
  await using at = await startIntegrationJob()
  await using elsewhere = await startTracker()
  const { client } = at.job.running
  for (const tracker of [at.tracker, elsewhere]) tracker.repositories.set('octo/hello', issues(2))
  await at.integrate()
  expect(await at.sync()).toEqual({ imported: 2, skipped: 0, errors: 0 })
  await client.call('integrations.delete', { project_id: at.job.project.id })
  const me = await client.call('auth.me', {})
  await at.integrate({ base_url: elsewhere.url, default_assignee_type: 'user', default_assignee_id: me.id })
  expect(await at.sync()).toEqual({ imported: 2, skipped: 0, errors: 0 })
  const coder = { type: 'user', id: me.id }
  expect((await at.tasks()).map(({ external_issue_url, roles }) => [external_issue_url, roles])).toEqual([
    [`${at.tracker.url}/octo/hello/issues/1`, {}],
    [`${at.tracker.url}/octo/hello/issues/2`, {}],
    [`${elsewhere.url}/octo/hello/issues/1`, { coder }],
    [`${elsewhere.url}/octo/hello/issues/2`, { coder }],
  ])
})

test('counts an invalid issue as an error and imports the others', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', [
    { number: 0, title: 'No number' },
    { number: 2, title: 7 },
    { number: 3, title: 'Three', body: { text: 'an object' } },
    { number: 4, title: 'Four' },
  ])
  await at.integrate()
  expect(await at.sync()).toEqual({ imported: 1, skipped: 0, errors: 3 })
})

test('does not import a deleted task again', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', issues(2))
  await at.integrate()
  await at.sync()
  const [task] = await at.tasks()
  await at.job.running.client.call('tasks.delete', { task_id: task?.id ?? '' })
  expect(await at.sync()).toEqual({ imported: 0, skipped: 2, errors: 0 })
})
