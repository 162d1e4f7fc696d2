import { unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { startJob } from '../../helpers/job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { refusalOf } from '../../helpers/refusal.ts'

/** A task with a worktree and without a running agent. */
async function worked() {
  const job = await startJob({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } })
  const task = await job.task()
  const { client } = job.running
  const { workspace } = await client.call('tasks.claim', { task_id: task.id })
  return { job, client, task_id: task.id, path: workspace?.path ?? '' }
}

const filesOf = async (client: Client, task_id: string) => (await client.call('tasks.diff', { task_id })).files
const viewedOf = async (client: Client, task_id: string) =>
  (await filesOf(client, task_id)).map(({ path, viewed }) => `${path} ${viewed ? 'viewed' : 'new'}`)

test.concurrent('keeps a viewed mark as long as content and mode', async () => {
  const { job, client, task_id, path } = await worked()
  await using _ = job
  await writeFile(join(path, 'a.txt'), 'changed\n')
  await unlink(join(path, 'b.txt'))
  const files = await filesOf(client, task_id)
  expect(files.map(({ viewed }) => viewed)).toEqual([false, false])
  await client.call('tasks.mark_viewed', { task_id, files: files.map(named), viewed: true })
  expect(await viewedOf(client, task_id)).toEqual(['a.txt viewed', 'b.txt viewed'])
  await job.repository.git(['commit', '-q', '-am', 'Keep it'], { cwd: path })
  const branch = await client.call('tasks.diff', { task_id, scope: 'branch' })
  expect(branch.files.map(({ viewed }) => viewed)).toEqual([true, true])
  await writeFile(join(path, 'a.txt'), 'changed again\n')
  await writeFile(join(path, 'b.txt'), 'back\n')
  expect(await viewedOf(client, task_id)).toEqual(['a.txt new', 'b.txt new'])
  await writeFile(join(path, 'a.txt'), 'changed\n')
  const again = await client.call('tasks.diff', { task_id, scope: 'branch' })
  expect(again.files.map(({ path, viewed }) => [path, viewed])).toEqual([
    ['a.txt', true],
    ['b.txt', false],
  ])
})

test.concurrent('ignores a mark for old content, and removes marks', async () => {
  const { job, client, task_id, path } = await worked()
  await using _ = job
  await writeFile(join(path, 'a.txt'), 'seen\n')
  const seen = (await filesOf(client, task_id)).map(named)
  await writeFile(join(path, 'a.txt'), 'newer than what was seen\n')
  await client.call('tasks.mark_viewed', { task_id, files: seen, viewed: true })
  expect(await viewedOf(client, task_id)).toEqual(['a.txt new'])
  const now = (await filesOf(client, task_id)).map(named)
  await client.call('tasks.mark_viewed', { task_id, files: now, viewed: true })
  expect(await viewedOf(client, task_id)).toEqual(['a.txt viewed'])
  await client.call('tasks.mark_viewed', { task_id, files: now, viewed: false })
  expect(await viewedOf(client, task_id)).toEqual(['a.txt new'])
})

test.concurrent('keeps marks per person, and sends no one else’s', async () => {
  const { job, client, task_id, path } = await worked()
  await using _ = job
  const guest = await register(job.running, 'Guest')
  await addMember(job.running, job.project.id, guest.user_id, 'member')
  await writeFile(join(path, 'a.txt'), 'changed\n')
  const files = (await filesOf(client, task_id)).map(named)
  const stop = new AbortController()
  const [mine, theirs] = [client, guest.client].map((one) => heard(one, stop.signal))
  await client.call('tasks.mark_viewed', { task_id, files, viewed: true })
  await client.call('tasks.update', { task_id, title: 'After the mark' })
  expect(await viewedOf(client, task_id)).toEqual(['a.txt viewed'])
  expect(await viewedOf(guest.client, task_id)).toEqual(['a.txt new'])
  expect(await mine).toMatchObject({ task_id, files, viewed: true })
  expect(await theirs).toBeNull()
  stop.abort()
})

test.concurrent('accepts marks from people only, and for existing tasks', async () => {
  await using job = await startJob({ files: { 'a.txt': 'a\n' } })
  const { client } = job.running
  const file = { path: 'a.txt', blob: null, new_mode: null }
  const task_id = '01912d68-783e-7a03-8467-5661c1243ad4'
  expect(await refusalOf(client.call('tasks.mark_viewed', { task_id, files: [file], viewed: true }))).toBe('not_found')
  const task = await job.task()
  for (const files of [[], Array.from({ length: 501 }, () => file), [{ ...file, path: '' }]]) {
    const refused = refusalOf(client.call('tasks.mark_viewed', { task_id: task.id, files, viewed: true }))
    expect(await refused).toBe('validation_failed')
  }
})

/** Returns the first mark received; null if a title changes before. */
async function heard(client: Client, signal: AbortSignal): Promise<unknown> {
  for await (const item of client.events({}, 0, signal)) {
    if (item.kind !== 'event') continue
    if (item.event.type === 'diff.viewed') return item.event.data
    if (item.event.type === 'task.updated' && item.event.data.task.title === 'After the mark') return null
  }
  throw new Error('The events ended.')
}

const named = ({ path, blob, new_mode }: DiffFile) => ({ path, blob, new_mode })
