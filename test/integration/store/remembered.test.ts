import { v7 } from 'uuid'
import { expect, test, vi } from 'vitest'
import { toTask } from '../../../src-main/core/views.ts'
import { cachedQuery } from '../../../src-main/store/query-cache.ts'
import { tasks } from '../../../src-main/store/schema/work.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { deleteProject, openStore, type OpenStore } from './open-store.ts'

/** Reads a task's title, and counts the database queries. */
function titles({ database }: OpenStore) {
  const statement = database.db.$client.prepare<[string], string>('SELECT title FROM tasks WHERE id = ?').pluck()
  let asked = 0
  const read = cachedQuery(database.db, tasks, (id: TaskId) => {
    asked += 1
    return { title: statement.get(id) ?? null }
  })
  return { read: (id: TaskId) => read(id).title, raw: read, asked: () => asked }
}

test('queries the database once, and again after any write of its table by any statement', async () => {
  await using open = await openStore()
  const { read, asked } = titles(open)
  const task = open.task({ title: 'One' })
  expect([read(task.id), read(task.id), asked()]).toEqual(['One', 'One', 1])
  open.store.write((q) => q.tasks.put({ ...task, title: 'Two' }))
  expect([read(task.id), read(task.id), asked()]).toEqual(['Two', 'Two', 2])
  open.database.db.$client.exec(`UPDATE tasks SET title = 'Three'`)
  expect([read(task.id), asked()]).toEqual(['Three', 3])
  open.task({ title: 'Another' })
  expect([read(task.id), asked()]).toEqual(['Three', 4])
  open.store.write((q) => q.events.append('agent.updated', null, {}))
  expect([read(task.id), asked()]).toEqual(['Three', 4])
})

test('notices a row that is deleted by a foreign key', async () => {
  await using open = await openStore()
  const { read } = titles(open)
  const { id, project_id } = open.task({ title: 'One' })
  expect(open.store.read.tasks.get(id)?.title).toBe('One')
  expect(read(id)).toBe('One')
  deleteProject(open, project_id)
  expect(read(id)).toBeNull()
  expect(open.store.read.tasks.get(id)).toBeNull()
})

test('drops what a rolled-back transaction saw', async () => {
  await using open = await openStore()
  const { read } = titles(open)
  const task = open.task({ title: 'One' })
  expect(read(task.id)).toBe('One')
  const fail = () =>
    open.store.write((q) => {
      expect(read(task.id)).toBe('One')
      q.tasks.put({ ...task, title: 'Two' })
      expect([read(task.id), q.tasks.get(task.id)?.title]).toEqual(['Two', 'Two'])
      throw new Error('No.')
    })
  expect(fail).toThrow('No.')
  expect([read(task.id), open.store.read.tasks.get(task.id)?.title]).toEqual(['One', 'One'])
  // Nor of its first query.
  const other = v7() as TaskId
  expect(() =>
    open.store.write((q) => {
      q.tasks.put({ ...task, id: other, number: q.tasks.nextNumber(task.project_id), title: 'New' })
      expect(q.tasks.get(other)?.title).toBe('New')
      throw new Error('No.')
    }),
  ).toThrow('No.')
  expect(open.store.read.tasks.get(other)).toBeNull()
})

test('returns answers that no caller can change for others', async () => {
  await using open = await openStore()
  const { raw } = titles(open)
  const task = open.task({ title: 'One', labels: ['a'] })
  expect(() => Object.assign(raw(task.id), { title: 'Mine' })).toThrow(TypeError)
  const record = open.store.read.tasks.get(task.id)
  expect(() => record?.labels.push('b')).toThrow(TypeError)
  expect(open.store.read.tasks.get(task.id)?.labels).toEqual(['a'])
})

test('shows a task that no one writes without a query', async () => {
  await using open = await openStore()
  const { read } = open.store
  const { id } = open.task({ title: 'One' })
  const show = () => {
    const task = read.tasks.get(id)
    return task && toTask(read, task).pull_request
  }
  expect(show()).toBeNull()
  const statement = Object.getPrototypeOf(open.database.db.$client.prepare('SELECT 1')) as Record<string, () => unknown>
  const asked = ['get', 'all'].map((name) => vi.spyOn(statement, name))
  try {
    expect(show()).toBeNull()
    expect(asked.map((one) => one.mock.calls)).toEqual([[], []])
  } finally {
    for (const one of asked) one.mockRestore()
  }
})
