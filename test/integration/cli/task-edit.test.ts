import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startWorld } from './svc-process.ts'

test('stacks a task at its creation or later, unstacks it, and changes its title', async () => {
  await using repository = await createTestRepository()
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  const lower = await world.json<Task>(['task', 'create', 'Lower'], here)
  const upper = await world.json<Task>(['task', 'create', 'Upper', '--on', lower.ref], here)
  expect(upper.stacked_on).toBe(lower.id)
  const edit = (...words: readonly string[]) => world.json<Task>(['task', 'edit', upper.ref, ...words], here)
  expect(await edit('--off')).toMatchObject({ stacked_on: null, title: 'Upper' })
  expect(await edit('--on', lower.ref, '--title', 'Top')).toMatchObject({ stacked_on: lower.id, title: 'Top' })

  const refusals = [[], ['--on', lower.ref, '--off']].map((words) =>
    world.svc(['task', 'edit', upper.ref, ...words], here),
  )
  expect((await Promise.all(refusals)).map(({ code }) => code)).toEqual([2, 2])
  expect(await world.svc(['task', 'edit', lower.ref, '--on', upper.ref], here)).toMatchObject({ code: 1 })
})
