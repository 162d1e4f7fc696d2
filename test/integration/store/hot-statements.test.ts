import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import type { TaskRecord } from '../../../src-main/ports/task-queries.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { at, openStore } from './open-store.ts'

test('writes a whole row, whichever of its fields changed', async () => {
  await using open = await openStore()
  const first = open.task()
  const patches: Partial<TaskRecord>[] = [
    { status: 'todo', version: 2, entry_barrier: true },
    { archived: true },
    { position: 3.25, title: 'Moved' },
    { parent_id: v7() as TaskId, labels: ['a'] },
    { error_annotation: { type: 'hook_failed', message: 'No', recovery_actions: [] }, review_passed_at: at },
    { parent_id: null, archived: false, error_annotation: null, description: 'Words' },
  ]
  let task = first
  for (const patch of patches) {
    task = { ...task, ...patch }
    const written = task
    open.store.write((q) => q.tasks.put(written))
    expect(open.store.read.tasks.get(first.id)).toEqual(task)
  }
})

test.each([0, 1, 50, 123])('inserts %i rows at once as one by one, all or none', async (count) => {
  await using open = await openStore()
  const like = open.task({ labels: ['a', 'b'], description: 'Every word' })
  const rows = Array.from({ length: count }, (_, index) => {
    const place = { number: like.number + 1 + index, position: like.position + 1 + index }
    return { ...like, ...place, id: v7() as TaskId, title: `Row ${index}`, archived: index % 3 > 0 }
  })
  open.store.write((q) => q.tasks.addMany(rows))
  expect(rows.map(({ id }) => open.store.read.tasks.get(id))).toEqual(rows)
  const shown = rows.filter(({ archived }) => !archived).map(({ title }) => title)
  expect(open.titles({ q: 'row every' })).toEqual(shown)
  const more = rows.map((row) => ({ ...row, id: v7() as TaskId, number: row.number + count }))
  const again = open.store.read.tasks.get(like.id)
  if (again === null) throw new Error('The first task is gone.')
  expect(() => open.store.write((q) => q.tasks.addMany([...more, again]))).toThrow('UNIQUE')
  expect(more.map(({ id }) => open.store.read.tasks.get(id))).toEqual(more.map(() => null))
})

test('refuses a new or changed row that refers to nothing', async () => {
  await using open = await openStore()
  const task = open.task()
  const project_id = v7() as TaskRecord['project_id']
  expect(() => open.store.write((q) => q.tasks.put({ ...task, project_id }))).toThrow('FOREIGN KEY')
  expect(() => open.store.write((q) => q.tasks.put({ ...task, id: v7() as TaskId, project_id }))).toThrow('FOREIGN KEY')
  expect(open.store.read.tasks.get(task.id)).toEqual(task)
})
