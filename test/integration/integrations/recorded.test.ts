import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { json, type FakeTracker } from '../../helpers/fake-tracker.ts'
import { startIntegrationJob } from '../../helpers/integration-job.ts'
import { projectRoot } from '../../helpers/project-root.ts'

interface Exchange {
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly response: unknown
}

/** Replays recorded answers of api.github.com. */
async function play(tracker: FakeTracker): Promise<void> {
  const file = join(projectRoot, 'test/fixtures/github/issues.json')
  const { exchanges } = JSON.parse(await readFile(file, 'utf8')) as { exchanges: Exchange[] }
  const here = (text: string) => text.replaceAll(/https:\/\/api\.github\.com(:443)?/g, tracker.url)
  tracker.instead = (request) => {
    const page = request.query['page']
    const found = exchanges.find(({ path }) => {
      const recorded = new URL(path, tracker.url)
      return recorded.pathname === request.path && recorded.searchParams.get('page') === (page ?? null)
    })
    if (!found) return json(404, { message: 'Not Found' })
    const unwanted = /^(content-|transfer-|connection)/
    const headers = Object.entries(found.headers).filter(([name]) => !unwanted.test(name))
    const sent = Object.fromEntries(headers.map(([name, value]) => [name, here(String(value))]))
    return json(found.status, JSON.parse(here(JSON.stringify(found.response))), sent)
  }
}

test('imports each issue once from GitHub’s recorded five pages', async () => {
  await using at = await startIntegrationJob()
  await play(at.tracker)
  await at.integrate({ owner: 'octokit-fixture-org', repo: 'paginate-issues' })
  expect(await at.sync()).toEqual({ imported: 13, skipped: 0, errors: 0 })
  expect(at.tracker.requests.map(({ path }) => path)).toEqual([
    '/repos/octokit-fixture-org/paginate-issues/issues',
    ...Array<string>(4).fill('/repositories/1000/issues'),
  ])
  const tasks = await at.tasks()
  expect(tasks.map((task) => task.external_issue_number)).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
  expect(tasks[0]).toMatchObject({
    title: 'Test issue 13',
    external_issue_url: `${at.tracker.url}/octokit-fixture-org/paginate-issues/issues/13`,
  })
  expect(await at.sync()).toEqual({ imported: 0, skipped: 13, errors: 0 })
})

test('follows GitHub’s recorded answer for a renamed repository', async () => {
  await using at = await startIntegrationJob()
  await play(at.tracker)
  const ask = at.tracker.instead
  at.tracker.instead = (request, nth) =>
    ask?.({ ...request, path: request.path.replace(/^(\/repos\/[^/]+\/rename-repository)\/issues$/, '$1') }, nth) ??
    null
  await at.integrate({ owner: 'octokit-fixture-org', repo: 'rename-repository' })
  await expect(at.sync()).rejects.toMatchObject({ details: { reason: 'not_found' } })
  expect(at.tracker.requests.map(({ path }) => path)).toEqual([
    '/repos/octokit-fixture-org/rename-repository/issues',
    '/repositories/1000',
  ])
})
