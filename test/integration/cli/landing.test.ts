import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startWorld } from './svc-process.ts'

test('shows the lane, checks the base, and reports a merge without waiting', async () => {
  await using repository = await createTestRepository()
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  const task = await world.json<Task>(['task', 'create', 'Mend it'], here)
  expect(await world.svc(['landing', 'list'], here)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^main [0-9a-f]{12}: not tested\nNo task waits to land\.\n$/) as string,
  })
  expect(await world.svc(['landing', 'check'], here)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Add default checks or landing steps.') as string,
  })
  expect(await world.svc(['landing', 'remove', task.ref], here)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('This task does not wait to land.') as string,
  })
})
