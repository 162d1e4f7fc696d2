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
