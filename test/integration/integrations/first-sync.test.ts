import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { Integration } from '../../../src-shared/contract/integrations.ts'
import type { OperationOutput } from '../../../src-shared/contract/operations.ts'
import { startTracker } from '../../helpers/fake-tracker.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'

// COPSE_ISSUES=50000 for as many as a large repository has.
const count = Number(process.env['COPSE_ISSUES'] ?? 3_000)
const pages = Math.ceil(count / 100)
const body = 'It breaks, and nobody knows why. '.repeat(50)

vi.setConfig({ testTimeout: 240_000 + count * 10 })

test('shows progress, resumes after a kill without duplicates, and leaves room for other work', async () => {
  const secret = `SVC_SECRET_FIRST_SYNC_${process.pid}`
  await using tracker = await startTracker()
  process.env[secret] = tracker.token
  await using opened = new AsyncDisposableStack()
  opened.defer(() => void Reflect.deleteProperty(process.env, secret))
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  tracker.repositories.set(
    'octo/hello',
    numbers.map((number) => ({ number, title: `Issue ${number}`, body })),
  )
  await using repository = await createTestRepository()
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-first-sync-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }))

  await using first = await startKillableApp(dataDir)
  const { id: project_id } = await first.client.call('projects.create', { name: 'Big', repo_path: repository.path })
  const coming = news(first.client, ({ progress }) => (progress?.pages ?? 0) >= pages / 3)
  await first.client.call('integrations.create', {
    project_id,
    platform: 'hosted',
    base_url: tracker.url,
    owner: 'octo',
    repo: 'hello',
    token_secret_ref: secret,
    poll_interval_secs: 1,
  })
  const seen = (await coming).map(({ progress }) => progress?.pages ?? 0)
  await first.kill()
  const done = seen.at(-1) ?? 0
  expect(seen.filter((page) => page > 0)).toEqual(Array.from({ length: done }, (_, index) => index + 1))

  const askedBefore = tracker.requests.length
  await using second = await startKillableApp(dataDir)
  const { client } = second
  const get = () => client.call('integrations.get', { project_id })
  const most = await mostPagesWithinARequest(client, project_id, () => tracker.requests.length)
  const end = await second.eventually(get, ({ last_polled_at }) => last_polled_at !== null)
  expect(end).toMatchObject({ last_error: null, progress: null })
  // During a request a page or two are imported, not everything.
  expect(most).toBeLessThanOrEqual(4)
  const asked = tracker.requests.slice(askedBefore).map(({ query }) => Number(query['page'] ?? 1))
  const rest = asked.slice(0, asked.indexOf(pages) + 1)
  expect(rest).toEqual(Array.from({ length: pages - (rest[0] ?? 0) + 1 }, (_, index) => (rest[0] ?? 0) + index))
  // Its last page may have been imported when it was killed, before the event arrived.
  expect(rest[0]).toBeGreaterThan(done)
  expect(await issuesOf(client, project_id)).toEqual(numbers)
})

/** Waits for events of an integration until one matches. */
async function news(client: Client, fits: (integration: Integration) => boolean): Promise<readonly Integration[]> {
  const heard: Integration[] = []
  const stop = new AbortController()
  for await (const item of client.events({}, 0, stop.signal)) {
    if (item.kind !== 'event' || item.event.type !== 'integration.updated' || !item.event.data.integration) continue
    heard.push(item.event.data.integration)
    if (fits(item.event.data.integration)) stop.abort()
  }
  return heard
}

/** Works on the board until the import is done; returns the most pages imported during one request. */
async function mostPagesWithinARequest(client: Client, project_id: string, count: () => number): Promise<number> {
  let most = 0
  for (let isDone = false; !isDone;) {
    const before = count()
    const { items } = await client.call('tasks.list', { project_id, limit: 50 })
    most = Math.max(most, count() - before)
    const [task] = items
    const between = count()
    if (task) await client.call('tasks.update', { task_id: task.id, priority: (task.priority + 1) % 5 })
    most = Math.max(most, count() - between)
    isDone = (await client.call('integrations.get', { project_id })).progress === null
  }
  return most
}

/** The numbers of all imported issues. */
async function issuesOf(client: Client, project_id: string): Promise<readonly (number | null)[]> {
  const numbers: (number | null)[] = []
  let cursor: string | undefined
  do {
    const page: OperationOutput<'tasks.list'> = await client.call('tasks.list', {
      project_id,
      limit: 200,
      ...(cursor !== undefined && { cursor }),
    })
    numbers.push(...page.items.map((task) => task.external_issue_number))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return numbers
}
