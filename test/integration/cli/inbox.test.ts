import { expect, test } from 'vitest'
import type { Notification } from '../../../src-shared/contract/notifications.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startWorld } from './svc-process.ts'

test('lists one row per task with its newest notification, or all on request', async () => {
  await using repository = await createTestRepository()
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  expect((await world.svc(['inbox'])).stdout).toBe('Nothing in the inbox.\n')
  await world.json(['agent', 'add', 'Shell', '--executor', 'command', '--command', 'date > "$SVC_TASK_ID"; echo done'])
  const reviewed = async (title: string) => {
    const { ref } = await world.json<Task>(['task', 'create', title], here)
    await world.svc(['task', 'claim', ref, '--agent', 'Shell'])
    const show = () => world.json<{ task: Task }>(['task', 'show', ref])
    await expect.poll(async () => JSON.stringify(await show()), { timeout: 100_000 }).toMatch(/"review_passed_at": ?"/)
    return ref
  }
  const first = await reviewed('First')
  const second = await reviewed('Second')
  const third = await reviewed('Third')
  expect(await world.svc(['task', 'move', first, 'merging'])).toMatchObject({ code: 0 })

  const rows = async (...more: readonly string[]) =>
    (await world.svc(['inbox', ...more])).stdout.trim().split('\n').slice(1)
  const inbox = await rows()
  expect(inbox).toHaveLength(2)
  // What they moved themself has no row.
  expect(inbox[0]).toMatch(new RegExp(`^new +${third} +\\d{4}-.*“Third” is ready`))
  expect(inbox[1]).toMatch(new RegExp(`^new +${second} +.*“Second” is ready`))
  const all = await world.json<{ items: Notification[] }>(['inbox', '--all'])
  expect(all.items).toHaveLength(4)
  expect(all.items[0]).toMatchObject({ title: '“First” is done', read: true })
  expect(await rows('--kind', 'needs_you')).toHaveLength(2)
  expect((await world.svc(['inbox', '--limit', '1'])).stdout).toContain('More than 1.')

  expect((await world.svc(['inbox', '--read', third])).stdout).toBe(`Marked everything about ${third} as read.\n`)
  expect(await rows('--unread')).toEqual([expect.stringContaining(second)])
  const unread = async () => (await world.client.call('notifications.list', { read: false })).items
  expect((await unread()).map(({ title }) => title)).toEqual([
    '“Second” is ready for your review',
    '“First” is ready for your review',
  ])
  expect(await world.svc(['inbox', '--read-all', '--project', 'shop'])).toMatchObject({ code: 0 })
  expect((await world.svc(['inbox', '--unread'])).stdout).toBe('Nothing unread.\n')
  expect(await world.svc(['inbox', '--read-all', '--read', first])).toMatchObject({ code: 2 })
})
