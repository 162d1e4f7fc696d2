import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import type { CommentRecord } from '../../../src-main/ports/comment-queries.ts'
import type { CommentId, TaskId } from '../../../src-shared/contract/ids.ts'
import { at, openStore } from './open-store.ts'

function comment(task_id: TaskId, more: Partial<CommentRecord> = {}): CommentRecord {
  return {
    id: v7() as CommentId,
    task_id,
    parent_id: null,
    author: { type: 'operator', id: null, name: 'Operator' },
    body: 'Why?',
    anchor: null,
    sent: null,
    answer: null,
    original: null,
    applied: null,
    resolved_at: null,
    created_at: at,
    updated_at: at,
    ...more,
  }
}

test('lists a task’s comments oldest first, then by ID', async () => {
  await using open = await openStore()
  const task = open.task().id
  const anchor = { path: 'src/a b.ts', side: 'new', line: 3 } as const
  const author = { type: 'agent', id: v7(), name: 'Coder' } as const
  const newest = comment(task, { created_at: '2026-11-21T09:30:00.001Z' })
  const [first, second] = [comment(task, { anchor, author, body: 'It’s "so" 🧭\u0000' }), comment(task)]
  const elsewhere = comment(open.task().id)
  open.store.write((q) => {
    for (const one of [newest, second, first, elsewhere]) q.comments.put(one)
  })
  const { comments } = open.store.read
  expect(comments.byTask(task)).toEqual([first, second, newest])
  const edited = { ...second, body: 'Because', resolved_at: at, updated_at: '2026-11-21T09:31:00.000Z' }
  open.store.write((q) => {
    q.comments.put(edited)
  })
  expect(comments.get(second.id)).toEqual(edited)
  expect(comments.get(v7() as CommentId)).toBeNull()
})

test('deletes a comment with all answers to it, and no other', async () => {
  await using open = await openStore()
  const task = open.task().id
  const root = comment(task)
  const answer = comment(task, { parent_id: root.id })
  const deep = comment(task, { parent_id: answer.id })
  const sibling = comment(task)
  const other = comment(task, { parent_id: sibling.id })
  open.store.write((q) => {
    for (const one of [root, answer, deep, sibling, other]) q.comments.put(one)
    q.comments.delete(root.id)
  })
  expect(open.store.read.comments.byTask(task)).toEqual([sibling, other])
})

test('deletes a thread with its first comment, and with its task', async () => {
  await using open = await openStore()
  const task = open.task().id
  const thread = () => {
    let parent_id: CommentId | null = null
    const first = comment(task)
    return Array.from({ length: 1_500 }, (_, index) => {
      const one: CommentRecord = index === 0 ? first : comment(task, { parent_id })
      parent_id = one.id
      return one
    })
  }
  const [first, second] = [thread(), thread()]
  open.store.write((q) => {
    for (const one of [...first, ...second]) q.comments.put(one)
    q.comments.delete(first[0]?.id ?? (v7() as CommentId))
  })
  expect(open.store.read.comments.byTask(task)).toHaveLength(second.length)
  open.store.write((q) => q.tasks.delete(task))
  expect(open.store.read.comments.byTask(task)).toEqual([])
})

test('refuses an answer to nothing, and a comment on nothing', async () => {
  await using open = await openStore()
  const task = open.task().id
  const put = (record: CommentRecord) => () => {
    open.store.write((q) => {
      q.comments.put(record)
    })
  }
  expect(put(comment(task, { parent_id: v7() as CommentId }))).toThrow('FOREIGN KEY')
  expect(put(comment(v7() as TaskId))).toThrow('FOREIGN KEY')
})
