import SqliteDatabase from 'better-sqlite3'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { executionRecord } from './execution-record.ts'
import { at, deleteProject, openStore } from './open-store.ts'
import { explain, preparedBy, preparedOnce } from './query-plans.ts'

test('changes only the row that is saved again', async () => {
  await using open = await openStore()
  const task = open.task({ labels: ['a'], roles: { coder: { type: 'agent', id: v7() as never } } })
  const other = open.task()
  expect(open.store.read.tasks.get(task.id)).toEqual(task)
  const changed = { ...task, title: 'Changed', labels: [], archived: true, review_passed_at: at }
  open.store.write((q) => q.tasks.put(changed))
  expect(open.store.read.tasks.get(task.id)).toEqual(changed)
  expect(open.store.read.tasks.get(other.id)).toEqual(other)
})

test('stores missing values as NULL, not as the word null', async () => {
  await using open = await openStore()
  open.task()
  const client = new SqliteDatabase(open.file, { readonly: true })
  const rows = client.prepare('SELECT error_annotation, review_summary, diff_stat, parent_id FROM tasks').all()
  client.close()
  expect(rows).toEqual([{ error_annotation: null, review_summary: null, diff_stat: null, parent_id: null }])
})

test('filters a list literally', async () => {
  await using open = await openStore()
  const agent = v7()
  const parent = open.task({ title: 'Parent', status: 'todo' })
  open.task({ title: 'Labelled 100%', labels: ['bug', 'ui'], parent_id: parent.id })
  open.task({
    title: 'Assigned',
    roles: { reviewer: { type: 'agent', id: agent as never } },
    description: 'Find_me here',
  })
  open.task({ title: 'Archived', archived: true })
  expect(open.titles()).toEqual(['Parent', 'Labelled 100%', 'Assigned'])
  expect(open.titles({ include_archived: true })).toContain('Archived')
  expect(open.titles({ status: 'todo' })).toEqual(['Parent'])
  expect(open.titles({ label: 'ui' })).toEqual(['Labelled 100%'])
  expect(open.titles({ label: 'u' })).toEqual([])
  expect(open.titles({ assignee: agent })).toEqual(['Assigned'])
  expect(open.titles({ assignee: 'agent' })).toEqual([])
  expect(open.titles({ parent_id: parent.id })).toEqual(['Labelled 100%'])
  expect(open.titles({ q: '100%' })).toEqual(['Labelled 100%'])
  expect(open.titles({ q: '%' })).toEqual(['Labelled 100%'])
  expect(open.titles({ q: 'find_ME' })).toEqual(['Assigned'])
  expect(open.titles({ q: 'findXme' })).toEqual([])
  expect(open.titles({ q: '\\' })).toEqual([])
  expect(open.titles({ project_id: v7() as never })).toEqual([])
})

test('pages through each task once, even at equal positions', async () => {
  await using open = await openStore()
  const all = Array.from({ length: 23 }, (_, index) => open.task({ position: Math.floor(index / 4) }))
  const seen: string[] = []
  let after: { position: number; id: never } | null = null
  for (;;) {
    const page: readonly { title: string; position: number; id: unknown }[] = open.store.read.tasks.list({
      project_id: open.project_id,
      status: null,
      q: null,
      label: null,
      assignee: null,
      parent_id: null,
      include_archived: false,
      after,
      limit: 5,
    })
    seen.push(...page.map((task) => task.title))
    const last = page.at(-1)
    if (!last || page.length < 5) break
    after = { position: last.position, id: last.id as never }
  }
  expect(seen).toEqual(all.map((task) => task.title))
})

test('numbers events without gaps, reads from a number on, and trims the oldest', async () => {
  await using open = await openStore()
  const { events } = open.store.read
  expect(events.range()).toEqual({ first: 0, last: 0 })
  for (let index = 0; index < 20; index += 1) {
    open.store.write((q) => q.events.append('task.deleted', open.project_id, { index }))
  }
  expect(events.after(17, 10).map((event) => [event.seq, event.data])).toEqual([
    [18, { index: 17 }],
    [19, { index: 18 }],
    [20, { index: 19 }],
  ])
  expect(events.after(0, 2).map((event) => event.seq)).toEqual([1, 2])
  open.store.write((q) => q.events.trim(5))
  expect(events.range()).toEqual({ first: 16, last: 20 })
  open.store.write((q) => q.events.trim(0))
  // A number is never reused, even when all events are gone.
  expect(open.store.write((q) => q.events.append('task.deleted', null, {})).seq).toBe(21)
})

test('deletes a project with all that belongs to it', async () => {
  await using open = await openStore()
  const task = open.task()
  open.store.write((q) => {
    q.executions.put(executionRecord(open, task.id, 'queued'))
    q.effects.add(task.id, { kind: 'enter' } as never)
  })
  deleteProject(open, open.project_id)
  const { read } = open.store
  expect([read.tasks.get(task.id), read.executions.open(), read.effects.pendingTasks()]).toEqual([null, [], []])
})

test('lists open executions oldest first', async () => {
  await using open = await openStore()
  const task = open.task()
  const records = (['queued', 'succeeded', 'running', 'queued'] as const).map((status) =>
    executionRecord(open, task.id, status),
  )
  open.store.write((q) => {
    for (const record of records.toReversed()) q.executions.put(record)
  })
  const expected = [records[0]?.id, records[2]?.id, records[3]?.id]
  const { executions } = open.store.read
  expect(executions.open().map((one) => one.id)).toEqual(expected)
  expect(executions.open(open.project_id).map((one) => one.id)).toEqual(expected)
  expect(executions.openOfTask(task.id).map((one) => one.id)).toEqual(expected)
  expect(executions.lastOf(task.id, 'coder')?.id).toBe(records[3]?.id)
  expect(executions.byTask(task.id)).toHaveLength(4)
})

test('scans no whole table in any hot query', async () => {
  await using open = await openStore()
  const task = open.task()
  const { read } = open.store
  const filter = { project_id: open.project_id, q: null, label: null, assignee: null, parent_id: null, limit: 50 }
  const page = { ...filter, include_archived: false, after: null }
  const late = preparedBy(() => {
    read.tasks.list({ ...page, status: null })
    read.tasks.list({ ...page, status: null, after: { position: 1, id: task.id } })
    read.tasks.list({ ...page, status: null, parent_id: task.id })
    read.tasks.list({ ...page, status: 'todo' })
    read.tasks.list({ ...page, status: null, include_archived: true })
    read.tasks.list({ ...page, status: null, q: 'a word' })
    read.tasks.idsInRepo(open.project_id, task.repo_id)
    read.tasks.someIds(open.project_id, 5)
    read.tasks.countByStatus(open.project_id)
    read.tasks.idsInStatus(open.project_id, 'todo')
    read.executions.open()
    read.executions.queue()
    read.executions.open(open.project_id)
    read.workspaces.toClean(at)
    read.workspaces.byProject(open.project_id)
    read.events.after(1, 500)
    read.events.range()
  })
  const plans = explain(open.file, [...late, ...preparedOnce(open)])
  expect(plans.length).toBeGreaterThan(20)
  expect(
    plans.filter(([, plan]) => /^SCAN (?!CONSTANT ROW|.*VIRTUAL TABLE INDEX|.*USING (COVERING )?INDEX)/m.test(plan)),
  ).toEqual([])
  const uses = (part: string) => plans.filter(([sql]) => sql.includes(part)).map(([, plan]) => plan)
  expect(uses(`IN ('queued', 'running')`).filter((plan) => !/executions_(open|by_task)/.test(plan))).toEqual([])
  const listing = plans.filter(([sql]) => sql.includes('order by "tasks"."position"'))
  const sorted = listing.filter(([, plan]) => plan.includes('TEMP B-TREE'))
  // A few rows are sorted faster than a whole table is scanned.
  expect(sorted.filter(([sql]) => !sql.includes('task_text'))).toEqual([])
  expect(listing.map(([, plan]) => /INDEX (tasks_\w+)/.exec(plan)?.[1])).toEqual([
    ...['tasks_by_project', 'tasks_by_project', 'tasks_by_parent', 'tasks_by_status', 'tasks_in_order'],
    undefined,
  ])
  expect(uses(`overrides ->> '$.message'`)).toEqual([expect.stringContaining('COVERING INDEX executions_open')])
  expect(uses('"tasks"."repo_id" = ?')).toEqual([expect.stringContaining('tasks_by_repo')])
  expect(uses(`= 'cleanup_scheduled'`)).toEqual([expect.stringContaining('workspaces_to_clean')])
})
