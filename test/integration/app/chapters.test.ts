import { unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkPartition } from '../../../src-main/chapters/rules/check-partition.ts'
import type { Chapters } from '../../../src-shared/contract/chapters.ts'
import { startJob } from '../../helpers/job.ts'
import { told, worked } from '../../helpers/told-chapters.ts'
import { refusalOf } from '../../helpers/refusal.ts'

const idsOf = ({ chapters }: Chapters): readonly string[] => chapters.flatMap(({ hunks }) => hunks.map(({ id }) => id))

test('divides the work of a task, committed or not, for people and by its tree', async () => {
  const { job, client, task_id, path } = await worked({
    'src/api.ts': 'export const api = 1\n',
    'b.txt': 'b\n',
    'yarn.lock': 'a\n',
  })
  await using _ = job
  await job.repository.write(
    { 'src/store.ts': 'export function createStore() {\n  return 1\n}\n', 'yarn.lock': 'b\n' },
    path,
  )
  await job.repository.git(['add', '--all'], { cwd: path })
  await job.repository.git(['commit', '--quiet', '--message', 'Work'], { cwd: path })
  await writeFile(join(path, 'src/api.ts'), "export const api = createStore()\nexport const key = eval('1')\n")
  await unlink(join(path, 'b.txt'))
  const answer = await told(client, task_id)
  const diff = await client.call('tasks.diff', { task_id, scope: 'branch' })
  expect(answer).toMatchObject({ tree: diff.tree, source: 'rules', pending: false })
  expect(answer.chapters.map(({ kind, folded, hunks }) => [kind, folded, hunks.map((hunk) => hunk.path)])).toEqual([
    ['core', false, ['src/store.ts', 'src/api.ts']],
    ['other', false, ['b.txt']],
    ['generated', true, ['yarn.lock']],
  ])
  const [first] = answer.chapters
  expect(first?.hunks[1]).toMatchObject({ cause: 'lines', old: [1, 1], new: [1, 2], kind: 'core', from: null })
  expect(answer.risks).toEqual([
    {
      kind: 'dynamic_code',
      level: 'high',
      text: 'Text is run as a program.',
      path: 'src/api.ts',
      line: 2,
      hunk: first?.hunks[1]?.id,
    },
  ])
})

test('shows what each reader has viewed, and keeps the ids of hunks that stay', async () => {
  const { job, client, task_id, path } = await worked({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
  await using _ = job
  await job.repository.write({ 'a.txt': 'a2\n', 'b.txt': 'b2\n' }, path)
  const before = await told(client, task_id)
  expect(before.chapters.flatMap(({ hunks }) => hunks.map(({ viewed }) => viewed))).toEqual([false, false])
  const { files } = await client.call('tasks.diff', { task_id, scope: 'branch' })
  const seen = files
    .filter((file) => file.path === 'a.txt')
    .map(({ blob, new_mode, ...file }) => ({ path: file.path, blob, new_mode }))
  await client.call('tasks.mark_viewed', { task_id, files: seen, viewed: true })
  await writeFile(join(path, 'b.txt'), 'b3\n')
  const after = await told(client, task_id)
  const viewed = after.chapters.flatMap(({ hunks }) => hunks.map((hunk) => [hunk.path, hunk.viewed]))
  expect(viewed).toEqual([
    ['a.txt', true],
    ['b.txt', false],
  ])
  expect(idsOf(after)[0]).toBe(idsOf(before)[0])
  expect(idsOf(after)[1]).not.toBe(idsOf(before)[1])
})

test('answers with files while the rules are applied, and tells when they are ready', async () => {
  const { job, client, task_id, path } = await worked({ 'README.md': 'a\n' })
  await using _ = job
  const body = Array.from(
    { length: 400 },
    (_line, at) => `export const value${at} = [${at}, 'x'].map(String).join()\n`,
  ).join('')
  await job.repository.write(
    Object.fromEntries(Array.from({ length: 60 }, (_file, at) => [`src/f${at}.ts`, `// ${at}\n${body}`])),
    path,
  )
  const first = await client.call('tasks.chapters', { task_id })
  const answer = await told(client, task_id)
  expect(answer.source).toBe('rules')
  expect(first.pending).toBe(true)
  expect(first.source).toBe('files')
  expect(
    checkPartition(
      first.chapters.map(({ hunks }) => ({ hunks: hunks.map(({ id }) => id) })),
      idsOf(answer),
    ),
  ).toBeNull()
  expect(await client.call('tasks.chapters', { task_id })).toEqual(answer)
})

test('has nothing to tell without a worktree, and refuses a task that is not there', async () => {
  await using job = await startJob({})
  const { client } = job.running
  const task = await job.task()
  const nothing = { tree: null, source: 'files', pending: false, by: null, chapters: [], risks: [], rejected: null }
  expect(await client.call('tasks.chapters', { task_id: task.id })).toEqual(nothing)
  const unknown = '01912d68-783e-7a03-8467-5661c1243ad4'
  expect(await refusalOf(client.call('tasks.chapters', { task_id: unknown }))).toBe('not_found')
})
