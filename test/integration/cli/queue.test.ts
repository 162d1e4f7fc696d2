import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Queue } from '../../../src-shared/contract/queue.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startWorld } from './svc-process.ts'

test('lists the queue and moves its items', async () => {
  await using repository = await createTestRepository()
  await using world = await startWorld()
  const here = { cwd: repository.path }
  const project = await world.json<{ id: string }>(['project', 'add', '--name', 'Shop'], here)
  await world.client.call('projects.update_settings', { project_id: project.id, max_concurrent_executions: 1 })
  const gate = join(repository.beside, 'gate')
  const command = `until test -e '${gate}'; do sleep 0.05; done; echo done`
  await world.json(['agent', 'add', 'Shell', '--executor', 'command', '--command', command])
  expect((await world.svc(['queue', 'list'], here)).stdout).toBe('0 of 1 running, 0 queued.\n')
  const refs: string[] = []
  for (const title of ['First', 'Second', 'Third']) {
    const { ref } = await world.json<Task>(['task', 'create', title], here)
    await world.svc(['task', 'claim', ref, '--agent', 'Shell'])
    refs.push(ref)
  }
  const [first = '', second = '', third = ''] = refs
  const queue = () => world.json<Queue>(['queue', 'list'], here)
  const titles = async () => (await queue()).waiting.map(({ title, position }) => [title, position])
  await expect.poll(titles).toEqual([
    ['Second', 1],
    ['Third', 2],
  ])
  expect(await world.svc(['queue', 'move', third, 'first'])).toMatchObject({
    code: 0,
    stdout: `${third} is number 1 of 2 in the queue.\n`,
  })
  const listed = (await world.svc(['queue', 'list'], here)).stdout
  expect(listed).toMatch(/^runs +First +coder +\d\d:\d\d:\d\d$/m)
  expect(listed).toMatch(/^waits +Third +coder +slots full, number 1\nwaits +Second +coder +slots full, number 2$/m)
  expect(listed).toMatch(/\n1 of 1 running, 2 queued\n$/)
  await world.svc(['queue', 'move', second, 'up'])
  expect(await titles()).toEqual([
    ['Second', 1],
    ['Third', 2],
  ])
  const running = await world.svc(['queue', 'move', first, 'last'])
  expect(running).toMatchObject({ code: 1, stderr: expect.stringContaining('has no run that waits') as string })
  expect(await world.svc(['queue', 'move', second, 'away'])).toMatchObject({ code: 2 })
  await writeFile(gate, '')
  await expect.poll(titles, { timeout: 100_000 }).toEqual([])
})
