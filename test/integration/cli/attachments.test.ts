import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Attachment } from '../../../src-shared/contract/attachments.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startWorld } from './svc-process.ts'

test('adds files with a task and later, lists them and saves them', async () => {
  await using repository = await createTestRepository()
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  await writeFile(join(repository.beside, 'server.log'), 'boom\n')
  const log = join(repository.beside, 'server.log')
  const task = await world.json<Task>(
    ['task', 'create', 'Mend it', '--description', 'It fails.', '--attach', log],
    here,
  )
  expect(task.description).toMatch(/^It fails\.\n\n\[server\.log\]\(attachment:[0-9a-f-]{36}\)$/)
  await writeFile(join(repository.path, 'more notes.txt'), 'blue\n')
  expect(await world.svc(['task', 'attach', task.ref, 'more notes.txt'], here)).toMatchObject({
    code: 0,
    stdout: `Added more notes.txt to ${task.ref}.\n`,
  })
  const { items } = await world.json<{ items: Attachment[] }>(['task', 'files', task.ref], here)
  expect(items.map(({ name, size }) => [name, size])).toEqual([
    ['server.log', 5],
    ['more notes.txt', 5],
  ])
  const folder = join(repository.beside, 'out')
  await mkdir(folder)
  expect(await world.svc(['task', 'files', task.ref, '--save', folder], here)).toMatchObject({ code: 0 })
  expect(await readFile(join(folder, 'server.log'), 'utf8')).toBe('boom\n')

  // Nothing is created when a file is missing.
  const missing = await world.svc(['task', 'create', 'Another', '--attach', 'nothing.png'], here)
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no file nothing.png.') as string })
  expect((await world.json<{ items: Task[] }>(['task', 'list'], here)).items.map(({ title }) => title)).toEqual([
    'Mend it',
  ])
})
