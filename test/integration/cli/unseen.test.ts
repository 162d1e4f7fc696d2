import { expect, test } from 'vitest'
import type { Chapters } from '../../../src-shared/contract/chapters.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startWorld } from './svc-process.ts'

test('shows of a diff what its reader has not marked as viewed', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } })
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  const task = await world.json<Task>(['task', 'create', 'One'], here)
  const { workspace } = await world.client.call('tasks.claim', { task_id: task.id })
  await repository.write({ 'a.txt': 'a2\n', 'b.txt': 'b2\n' }, workspace?.path)
  const { chapters } = await world.json<Chapters>(['task', 'chapters', task.ref], here)
  const hunks = chapters.flatMap((chapter) => chapter.hunks).filter(({ path }) => path === 'a.txt')
  await world.client.call('tasks.mark_viewed', { task_id: task.id, hunks: hunks.map(({ id }) => id), viewed: true })
  const all = await world.svc(['task', 'diff', task.ref], here)
  const unseen = await world.svc(['task', 'diff', task.ref, '--unseen'], here)
  expect(unseen).toMatchObject({ code: 0, stderr: '' })
  expect(unseen.stdout).toBe(all.stdout.slice(all.stdout.indexOf('diff --git a/b.txt')))
})
