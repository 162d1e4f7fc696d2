import { expect, test } from 'vitest'
import { openStore } from './open-store.ts'

const seen = (path: string, blob: string | null = 'a1') => ({ path, blob, new_mode: blob === null ? null : '100644' })

test('keeps one mark per reader and path, for the last marked content', async () => {
  await using open = await openStore()
  const { id } = open.task()
  const { read } = open.store
  open.store.write((q) => {
    q.viewed_files.put(id, 'operator', seen('a.ts'))
    q.viewed_files.put(id, 'operator', seen('it\'s "b".ts', null))
    q.viewed_files.put(id, 'operator', seen('a.ts', 'b2'))
    q.viewed_files.put(id, 'ada', seen('a.ts'))
  })
  expect(read.viewed_files.of(id, 'operator')).toEqual([seen('a.ts', 'b2'), seen('it\'s "b".ts', null)])
  open.store.write((q) => {
    q.viewed_files.remove(id, 'operator', 'a.ts')
    q.viewed_files.remove(id, 'operator', 'never.ts')
  })
  expect(read.viewed_files.of(id, 'operator')).toEqual([seen('it\'s "b".ts', null)])
  expect(read.viewed_files.of(id, 'ada')).toEqual([seen('a.ts')])
})

test('keeps the marks of hunks per reader, and passes them on with those of files', async () => {
  await using open = await openStore()
  const { id } = open.task()
  const { read } = open.store
  const [one, other] = [
    { id: '1', path: 'a.ts' },
    { id: '2', path: 'b.ts' },
  ]
  open.store.write((q) => {
    for (const hunk of [one, other, one]) q.viewed_files.putHunk(id, 'operator', hunk)
    q.viewed_files.putHunk(id, 'ada', other)
    q.viewed_files.removeHunk(id, 'operator', '2')
    q.viewed_files.removeHunk(id, 'operator', 'never')
  })
  expect(read.viewed_files.hunksOf(id, 'operator')).toEqual([one])
  expect(read.viewed_files.hunksOf(id, 'ada')).toEqual([other])
  open.store.write((q) => q.viewed_files.passOn('operator', 'grace'))
  expect(read.viewed_files.hunksOf(id, 'operator')).toEqual([])
  expect(read.viewed_files.hunksOf(id, 'grace')).toEqual([one])
})

test('deletes a task’s marks with it, and no others', async () => {
  await using open = await openStore()
  const [gone, kept] = [open.task(), open.task()]
  open.store.write((q) => {
    for (const { id } of [gone, kept]) q.viewed_files.put(id, 'operator', seen('a.ts'))
  })
  open.store.write((q) => {
    for (const { id } of [gone, kept]) q.viewed_files.putHunk(id, 'operator', { id: '1', path: 'a.ts' })
  })
  open.store.write((q) => q.tasks.delete(gone.id))
  expect(open.database.db.$client.prepare('SELECT task_id FROM viewed_files').all()).toEqual([{ task_id: kept.id }])
  expect(open.database.db.$client.prepare('SELECT task_id FROM viewed_hunks').all()).toEqual([{ task_id: kept.id }])
})
