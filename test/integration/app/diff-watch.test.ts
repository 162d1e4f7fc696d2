import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import { startJob } from '../../helpers/job.ts'
import { register } from '../../helpers/membership.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { systemWatches } from '../../helpers/system-watches.ts'

/** The events of a client; `next` waits for one that matches. */
function listen(client: Client) {
  const stop = new AbortController()
  const items = client.events({}, null, AbortSignal.any([stop.signal, AbortSignal.timeout(40_000)]))
  const source = items[Symbol.asyncIterator]()
  const first = source.next()
  return {
    next: async (fits: (item: FeedItem) => boolean): Promise<FeedItem> => {
      for (let turn = await first; !turn.done; turn = await source.next()) if (fits(turn.value)) return turn.value
      throw new Error('The events ended.')
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await source.return?.().catch(() => undefined)
    },
  }
}

const isChange = (item: FeedItem) => item.kind === 'worktree'

test.concurrent('notifies a viewer of each change that an agent writes', async () => {
  await using job = await startJob({ files: { 'a.txt': 'a\n' } })
  const { client } = job.running
  const task = await job.task()
  const task_id = task.id
  expect(await client.call('tasks.watch_diff', { task_id })).toEqual({ since: null, until: null })
  const { workspace } = await client.call('tasks.claim', { task_id })
  const path = workspace?.path ?? ''
  await using events = listen(client)
  const first = await client.call('tasks.watch_diff', { task_id })
  expect(Date.parse(first.until ?? '') - Date.parse(first.since ?? '')).toBeGreaterThanOrEqual(60_000)
  await writeFile(join(path, 'a.txt'), 'one\n')
  expect(await events.next(isChange)).toEqual({
    kind: 'worktree',
    change: { project_id: job.project.id, task_id, occurred_at: expect.stringContaining('T') },
  })
  expect((await client.call('tasks.diff', { task_id })).patch).toContain('+one\n')
  await writeFile(join(path, 'new.txt'), 'n\n')
  await events.next(isChange)
  const again = await client.call('tasks.watch_diff', { task_id })
  expect(again.since).toBe(first.since)
  await rm(path, { recursive: true })
  await events.next(isChange)
})

test.concurrent('sends changes to members only, without a number, and only on request', async () => {
  await using job = await startJob({ files: { 'a.txt': 'a\n' } })
  const { client } = job.running
  const guest = await register(job.running, 'Guest')
  const [quiet, watched] = [await job.task(), await job.task()]
  const paths = []
  for (const { id: task_id } of [quiet, watched]) {
    paths.push((await client.call('tasks.claim', { task_id })).workspace?.path ?? '')
  }
  const task_id = watched.id
  expect(await refusalOf(guest.client.call('tasks.watch_diff', { task_id }))).toBe('not_a_member')
  await using mine = listen(client)
  await using theirs = listen(guest.client)
  await client.call('tasks.watch_diff', { task_id })
  for (const path of paths) await writeFile(join(path, 'a.txt'), 'changed\n')
  expect(await mine.next(isChange)).toMatchObject({ change: { task_id } })
  await guest.client.call('agents.create', { name: 'Last', executor: 'command', config: { command: 'true' } })
  const heard = await theirs.next((item) => item.kind !== 'begun')
  expect(heard).toMatchObject({ kind: 'event', event: { type: 'agent.updated' } })
})

// Runs alone, because it counts for the whole process.
test.runIf(process.platform === 'linux')('ends its watches when the app closes', async () => {
  await using job = await startJob({ files: { 'a.txt': 'a\n' } })
  const task = await job.task()
  await job.running.client.call('tasks.claim', { task_id: task.id })
  const before = systemWatches()
  await job.running.client.call('tasks.watch_diff', { task_id: task.id })
  expect(systemWatches()).toBeGreaterThan(before)
  await job.running.app.close()
  expect(systemWatches()).toBe(before)
})
