import { expect, test } from 'vitest'
import type { KnowledgePage, KnowledgeRecord } from '../../../src-main/ports/knowledge-queries.ts'
import { executionRecord } from './execution-record.ts'
import { checkIndex, searchNotes, writeNote } from './notes.ts'
import { anotherProject, deleteProject, openStore } from './open-store.ts'

test('keeps entries per project, and deletes them with it', async () => {
  await using open = await openStore()
  const other = anotherProject(open)
  writeNote(open, { title: 'Here', body: 'otter' })
  writeNote(open, { title: 'There', body: 'otter', project_id: other })
  expect(searchNotes(open, 'otter')).toEqual(['Here'])
  deleteProject(open, other)
  expect(
    open.store.read.knowledge.search(other, 'otter', { status: 'accepted', task_id: null }, { offset: 0, limit: 5 }),
  ).toEqual([])
  expect(searchNotes(open, 'otter')).toEqual(['Here'])
  checkIndex(open)
})

test('lists each entry once, newest first, even of the same moment', async () => {
  await using open = await openStore()
  const time = (index: number) => `2026-11-21T09:30:00.00${Math.floor(index / 6)}Z`
  const entries = Array.from({ length: 20 }, (_, index) => writeNote(open, { created_at: time(index) }))
  writeNote(open, { project_id: anotherProject(open) })
  const seen: KnowledgeRecord[] = []
  let after: KnowledgePage['after'] = null
  for (;;) {
    const page = open.store.read.knowledge.list(
      open.project_id,
      { status: 'accepted', task_id: null },
      { after, limit: 4 },
    )
    seen.push(...page)
    const last = page.at(-1)
    if (!last) break
    after = { created_at: last.created_at, id: last.id }
  }
  expect(seen).toEqual(entries.toReversed())
})

test('finds what was captured from a task before what its agent wrote', async () => {
  await using open = await openStore()
  const task = open.task().id
  const source = (by: string) => ({ by, task_id: task, execution_id: null })
  const { knowledge } = open.store.read
  expect(knowledge.bySourceTask(task)).toBeNull()
  const written = writeNote(open, { source: source('agent:1') })
  expect(knowledge.bySourceTask(task)).toEqual(written)
  const captured = writeNote(open, { source: source('system'), created_at: '2026-11-21T09:31:00.000Z' })
  expect(knowledge.bySourceTask(task)).toEqual(captured)
})

test('keeps knowledge after its task and execution are deleted', async () => {
  await using open = await openStore()
  const task = open.task().id
  const execution = executionRecord(open, task, 'succeeded')
  open.store.write((q) => q.executions.put(execution))
  const entry = writeNote(open, {
    title: 'Lasting',
    source: { by: 'system', task_id: task, execution_id: execution.id },
  })
  open.store.write((q) => q.tasks.delete(task))
  const kept = { ...entry, source: { by: 'system', task_id: null, execution_id: null } }
  expect(open.store.read.knowledge.get(entry.id)).toEqual(kept)
  expect(open.store.read.knowledge.bySourceTask(task)).toBeNull()
  expect(searchNotes(open, 'lasting')).toEqual(['Lasting'])
})

test('replaces and removes what a task’s agents are told, also with the task', async () => {
  await using open = await openStore()
  const [task, other] = [open.task().id, open.task().id]
  const { knowledge } = open.store.read
  const tell = (text: string | null) => {
    open.store.write((q) => {
      q.knowledge.setInjected(task, text)
    })
  }
  expect(knowledge.injected(task)).toBeNull()
  tell('First')
  tell('Second')
  expect([knowledge.injected(task), knowledge.injected(other)]).toEqual(['Second', null])
  tell('')
  expect(knowledge.injected(task)).toBe('')
  tell(null)
  expect(knowledge.injected(task)).toBeNull()
  tell('Again')
  open.store.write((q) => q.tasks.delete(task))
  expect(knowledge.injected(task)).toBeNull()
})
