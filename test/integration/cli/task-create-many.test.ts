import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startWorld } from './svc-process.ts'

test('a list of titles or of JSON becomes tasks, from a file or from stdin', async () => {
  await using repository = await createTestRepository()
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  const many = async (list: string, ...words: readonly string[]) => {
    const { items } = await world.json<{ items: Task[] }>(['task', 'create', '--from', '-', ...words], {
      ...here,
      stdin: list,
    })
    return items.map(({ ref, title, labels, dependencies }) => ({ ref, title, labels, dependencies }))
  }
  const plain = { labels: ['x'], dependencies: [] }
  expect(await many('- [ ] One\n\n- Two\n', '--label', 'x')).toEqual([
    { ref: 'SHO-1', title: 'One', ...plain },
    { ref: 'SHO-2', title: 'Two', ...plain },
  ])
  const [first, second] = await many('{"title":"A","key":"a"}\n{"title":"B","depends_on":["a","SHO-1"],"labels":[]}\n')
  expect([first?.title, second?.title, second?.dependencies.length]).toEqual(['A', 'B', 2])
  const file = join(repository.path, 'plan.json')
  await writeFile(file, JSON.stringify([{ title: 'Of an array' }, { title: 'Last' }]))
  const said = await world.svc(['task', 'create', '--from', 'plan.json'], here)
  expect(said).toMatchObject({ code: 0, stdout: 'Created 2 tasks, SHO-5 to SHO-6.\n' })

  const refused = (words: readonly string[], stdin = '') => world.svc(['task', 'create', ...words], { ...here, stdin })
  expect(await refused(['--from', '-'], '[{"title":"Fine"},{"titel":"Not"}]')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('items.1.titel'),
  })
  const misused = [
    ['Title', '--from', '-'],
    ['--from', '-'],
    ['--from', '-', '--template', 'Bug'],
    ['--from', 'gone'],
  ]
  expect((await Promise.all(misused.map((words) => refused(words)))).map(({ code }) => code)).toEqual([2, 2, 2, 1])
  expect(await world.json<{ items: unknown[] }>(['task', 'list'], here)).toMatchObject({ items: { length: 6 } })
})
