import { expect, test } from 'vitest'
import type { Chapters } from '../../../src-shared/contract/chapters.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startWorld } from './svc-process.ts'

test('shows a task’s changes as chapters with their risks, for people and as JSON', async () => {
  const lock = (version: string): string => JSON.stringify({ packages: { 'node_modules/left': { version } } }, null, 2)
  await using repository = await createTestRepository({
    files: { 'README.md': 'a\n', 'package-lock.json': lock('1.0.0') },
  })
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  const task = await world.json<Task>(['task', 'create', 'One'], here)
  const { workspace } = await world.client.call('tasks.claim', { task_id: task.id })
  expect((await world.svc(['task', 'chapters', task.ref], here)).stdout).toBe('The branch has no changes.\n')
  const files = {
    'src/a.ts': 'export const run = (text: string) =>\n  eval(text)\n',
    'package-lock.json': lock('1.1.0'),
  }
  await repository.write(files, workspace?.path)
  const { code, stdout } = await world.svc(['task', 'chapters', task.ref], here)
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `1. run in src/a.ts (2 lines)
   No connection to other changes was found.
   Risk: src/a.ts:2: Text is run as a program.
   src/a.ts: 1-2

2. Generated: package-lock.json (2 lines, folded)
   Tools write these files: lock files, or what the attributes of the base call generated.
   left 1.0.0 → 1.1.0
   package-lock.json: 4
`,
  })
  const answer = await world.json<Chapters>(['task', 'chapters', task.ref], here)
  expect(answer).toMatchObject({ source: 'rules', pending: false, chapters: [{ kind: 'core' }, { kind: 'generated' }] })
})

test('sends chapters from a file, and says whose words are shown and which were not taken', async () => {
  await using repository = await createTestRepository({ files: { 'README.md': 'a\n' } })
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  const task = await world.json<Task>(['task', 'create', 'One'], here)
  const { workspace } = await world.client.call('tasks.claim', { task_id: task.id })
  await repository.write({ 'README.md': 'b\n' }, workspace?.path)
  const { tree, chapters } = await world.json<Chapters>(['task', 'chapters', task.ref], here)
  const hunks = chapters.flatMap((chapter) => chapter.hunks.map(({ id }) => id))
  const send = async (content: unknown) => {
    await repository.write({ 'chapters.json': typeof content === 'string' ? content : JSON.stringify(content) })
    return await world.svc(['task', 'chapters', task.ref, '--propose', 'chapters.json'], here)
  }
  const told = await send({ tree, chapters: [{ title: 'One\u001b[31m word', why: 'It was wrong.', hunks }] })
  expect(told.code).toBe(0)
  expect(told.stdout).toMatch(
    /^Titles, reasons and order are by user:\S+\.\n\n1\. One\[31m word \(2 lines\)\n   It was wrong\./,
  )
  const refused = await send({ tree, chapters: [{ title: 'One', why: '', hunks: [...hunks, 'x'] }] })
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('names that are no hunk: 1')
  const shown = await world.svc(['task', 'chapters', task.ref], here)
  expect(shown.stdout).toContain('were not taken: they don’t hold each hunk once.')
  expect((await send('[]')).stderr).toContain('has no chapters')
})
