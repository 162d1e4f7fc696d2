import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { ForgeRequestSeen } from '../../fakes/forges/forge-server.ts'
import { forgeKinds, type ForgeKind } from '../../helpers/any-forge.ts'
import { startAnyForgeJob, type AnyForgeJob } from '../../helpers/pull-request-job.ts'
import { refused } from '../../helpers/refusal.ts'

// A pull request rests while it waits for a person. The tests set the clock to each poll that is planned, so that an
// hour of the default settings passes in seconds.

/** The default interval. */
const intervalMs = 300_000
const pollsAnHour = 12
const mostRequests = 60

async function startResting(kind: ForgeKind, settings: Parameters<typeof startAnyForgeJob>[1] = {}) {
  let ahead = 0
  const clock = { now: () => Date.now() + ahead }
  const at = await startAnyForgeJob(kind, settings, { clock, pollsByDefault: true })
  // A sign-in ends within the hour.
  const { token } = await at.job.running.client.call('auth.create_token', { name: 'clock' })
  const client = at.job.running.clientWith(token)
  return { at, client, setTo: (time: number) => (ahead = Math.max(ahead, time - Date.now())) }
}
type Resting = Awaited<ReturnType<typeof startResting>>

function nextPoll({ job }: AnyForgeJob, { id }: Task): number {
  const database = new Database(join(job.running.dataDir, 'copse.db'), { readonly: true })
  try {
    const found = database.prepare('SELECT next_poll_at FROM pull_requests WHERE task_id = ?').pluck().get(id)
    return Date.parse(String(found))
  } finally {
    database.close()
  }
}

/** Sets the clock to the next polls as they are planned, and returns what they asked. */
async function pass({ at, client, setTo }: Resting, task: Task, polls: number): Promise<readonly ForgeRequestSeen[]> {
  const { requests } = at.forge.server
  const seen = requests.length
  const syncedAt = async () => {
    const { synced_at } = await client.call('pull_requests.get', { task_id: task.id })
    return Date.parse(String(synced_at))
  }
  const from = await syncedAt()
  for (let poll = 0; poll < polls; poll++) {
    const before = await syncedAt()
    setTo(nextPoll(at, task))
    await planAgain(client, task)
    await vi.waitFor(async () => expect(await syncedAt()).not.toBe(before), 10_000)
    await planAgain(client, task)
  }
  // As many polls come in as much time.
  expect((await syncedAt()) - from).toBeGreaterThanOrEqual(polls * intervalMs)
  return requests.slice(seen)
}

/** Has the next poll planned by the new time, after what goes on with the task. */
const planAgain = (client: Client, { id }: Task) =>
  refused(client.call('pull_requests.reply', { task_id: id, thread_id: 'none', body: 'Nothing.' }))

test.each(forgeKinds)('asks at most 60 times an hour for a pull request that waits for a person: %s', async (kind) => {
  const resting = await startResting(kind)
  await using at = resting.at
  const { client } = resting
  const { forge } = at
  const shown = () => client.call('pull_requests.get', { task_id: task.id })
  const task = await at.atGate('echo bonjour > greeting.txt')
  const { head, number } = await shown()
  for (const name of ['build', 'lint', 'test']) await forge.runWorkflow(number, name)
  await forge.report(head, 'ci/build', true)
  await forge.comment(number, { path: 'greeting.txt', line: 1 }, 'Say it twice?')
  await at.sync(task)
  await pass(resting, task, 2)

  const known = forge.notModified()
  const green = await pass(resting, task, pollsAnHour)
  expect(green.length).toBeLessThanOrEqual(mostRequests)
  // What has not changed costs nothing of the forge's limit. What it refuses has no ETag.
  if (known !== null) {
    const reads = green.filter(({ method, path }) => method === 'GET' && !path.endsWith('/check-runs'))
    expect(Number(forge.notModified()) - known).toBeGreaterThanOrEqual(reads.length)
  }
  expect((await shown()).checks.map(({ state }) => state)).toEqual(['passed', 'passed', 'passed', 'passed'])

  await forge.report(head, 'ci/build', false)
  await pass(resting, task, 2)
  const red = await pass(resting, task, pollsAnHour)
  if (process.env['COPSE_PULL_COUNTS'] !== undefined) console.info(kind, { green: green.length, red: red.length })
  expect(red.length).toBeLessThanOrEqual(mostRequests)
  expect(await shown()).toMatchObject({ state: 'open', waiting_for: ['checks', 'threads'] })
  expect(forge.server.failures).toEqual([])
})

test.each(forgeKinds)(
  'asks as seldom while the forge wants an approval before it merges by itself: %s',
  async (kind) => {
    const resting = await startResting(kind, { auto_merge: true })
    await using at = resting.at
    const { forge } = at
    forge.requireApproval()
    const task = await at.atGate('echo bonjour > greeting.txt')
    await forge.report((await at.sync(task)).head, 'ci/build', true)
    await at.sync(task)
    await pass(resting, task, 2)
    const asked = await pass(resting, task, pollsAnHour)
    if (process.env['COPSE_PULL_COUNTS'] !== undefined) console.info(kind, { merging: asked.length })
    expect(asked.length).toBeLessThanOrEqual(mostRequests)
    expect(forge.pulls().map(({ state }) => state)).not.toContain('merged')
    expect(forge.server.failures).toEqual([])
  },
)
