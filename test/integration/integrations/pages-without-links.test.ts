import { expect, test } from 'vitest'
import type { FakeIssue } from '../../helpers/fake-tracker.ts'
import { startIntegrationJob, type IntegrationJob } from '../../helpers/integration-job.ts'
import { refused } from '../../helpers/refusal.ts'

const issues = (count: number): FakeIssue[] =>
  Array.from({ length: count }, (_, index) => ({ number: index + 1, title: `Issue ${index + 1}` }))

const pagesAsked = ({ tracker }: IntegrationJob) => tracker.requests.map(({ query }) => Number(query['page'] ?? 1))

for (const [platform, count, pages] of [
  ['hosted', 230, [1, 2, 3]],
  ['hosted', 200, [1, 2, 3]],
  ['hosted', 99, [1]],
  ['selfhosted', 120, [1, 2, 3]],
  ['selfhosted', 100, [1, 2]],
] as const) {
  test(`imports all ${count} issues of a ${platform} tracker whose pages name no next one`, async () => {
    await using at = await startIntegrationJob()
    at.tracker.links = false
    at.tracker.repositories.set('octo/hello', issues(count))
    await at.integrate({ platform })
    expect(await at.sync()).toEqual({ imported: count, skipped: 0, errors: 0 })
    expect(await at.tasks()).toHaveLength(count)
    expect(pagesAsked(at)).toEqual(pages)
  })
}

test('follows a total where a server gives fewer issues than asked for', async () => {
  await using at = await startIntegrationJob()
  Object.assign(at.tracker, { links: false, largestPage: 30 })
  at.tracker.repositories.set('octo/hello', issues(70))
  await at.integrate({ platform: 'selfhosted' })
  expect(await at.sync()).toEqual({ imported: 70, skipped: 0, errors: 0 })
  expect(pagesAsked(at)).toEqual([1, 2, 3])
})

test('says that it cannot see more where a server gives the same page again, and ends', async () => {
  await using at = await startIntegrationJob()
  Object.assign(at.tracker, { links: false, ignoresPage: true })
  at.tracker.repositories.set('octo/hello', issues(230))
  await at.integrate()
  const failure = await refused(at.job.running.client.call('integrations.sync', { project_id: at.job.project.id }))
  expect(failure.message).toContain('the same page again')
  expect(await at.tasks()).toHaveLength(100)
  expect(at.tracker.requests.length).toBeLessThanOrEqual(3)
  expect((await at.integration()).last_error).toMatchObject({ reason: 'bad_response' })
})

for (const token of ['open', 'is', '1', 'number', 'hub', 'milestone']) {
  test(`reads issues with the token ${token}, which is a word of its answers`, async () => {
    await using at = await startIntegrationJob()
    at.tracker.token = token
    process.env[at.secret] = token
    at.tracker.repositories.set('octo/hello', [{ number: 11, title: 'This is an opened hub of 21 numbers' }])
    await at.integrate()
    expect(await at.sync()).toEqual({ imported: 1, skipped: 0, errors: 0 })
    expect(await at.tasks()).toMatchObject([
      { title: 'This is an opened hub of 21 numbers', external_issue_number: 11 },
    ])
  })
}
