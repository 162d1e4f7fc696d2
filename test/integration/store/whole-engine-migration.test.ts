import { join } from 'node:path'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { createStore } from '../../../src-main/store/create-store.ts'
import { openDatabase } from '../../../src-main/store/database.ts'
import { earlierMigrations, insert } from './earlier-migrations.ts'
import { at, migrations, temporaryFolder } from './open-store.ts'

const time = (minute: number) => `2026-11-21T10:0${minute}:00.000Z`
const oldVerdict = (feedback: string, created_at: string) => ({
  by: 'user:ada',
  verdict: 'fail',
  feedback,
  created_at,
})

async function writeOldFile(file: string, folder: string) {
  const ids = { project: v7(), task: v7(), untouched: v7(), review: v7(), plain: v7(), execution: v7() }
  const opened = await openDatabase(file, await earlierMigrations(folder, 2))
  const client = opened.db.$client
  const times = { created_at: at, updated_at: at }
  insert(client, 'projects', { id: ids.project, name: 'Old', workflow_definition: '', settings: '{}', ...times })
  for (const id of [ids.task, ids.untouched]) {
    insert(client, 'tasks', {
      id,
      project_id: ids.project,
      repo_id: v7(),
      title: 'Kept',
      status: 'review',
      version: 7,
      entry_barrier: 0,
      review_config: '{}',
      roles: '{}',
      labels: '[]',
      priority: 0,
      position: 1,
      archived: 0,
      ...times,
    })
  }
  const by = ['user:ada', 'agent:1', 'user:ada', 'system']
  for (const [minute, triggered_by] of by.entries()) {
    insert(client, 'transitions', {
      id: v7(),
      task_id: ids.task,
      from_state: 'review',
      to_state: 'in_progress',
      triggered_by,
      rejection: 1,
      hooks: '[]',
      created_at: time(minute),
    })
  }
  const verdicts = [oldVerdict('No "quotes", \\ and 🧭', time(1)), oldVerdict('', time(2)), oldVerdict('3', time(3))]
  const review = { task_id: ids.task, status: 'failed', ci_steps: '["npm test"]', step_results: '[]', created_at: at }
  insert(client, 'reviews', { ...review, id: ids.review, attempt_number: 1, verdicts: JSON.stringify(verdicts) })
  insert(client, 'reviews', { ...review, id: ids.plain, attempt_number: 2, verdicts: '[]' })
  insert(client, 'executions', {
    id: ids.execution,
    task_id: ids.task,
    project_id: ids.project,
    role: 'coder',
    executor: 'person',
    status: 'succeeded',
    dispatched: 1,
    prompt: 'Do it',
    overrides: '{}',
    created_at: at,
  })
  opened.close()
  return { ids, verdicts }
}

test('reads rows of the earlier version, with null for new fields', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  const { ids, verdicts } = await writeOldFile(file, folder.path)
  const store = createStore(await openDatabase(file, migrations))
  const { read } = store
  const task = ids.task as never
  expect(read.reviews.get(ids.review as never)).toMatchObject({
    head: null,
    changed_by_steps: [],
    notes: [],
    empty: false,
    ignored: [],
    config_changes: [],
    verdicts: verdicts.map((verdict) => ({ ...verdict, head_commit: null })),
    ci_steps: ['npm test'],
  })
  expect(read.reviews.latest(task)).toMatchObject({ id: ids.plain, verdicts: [], head: null })
  expect(read.executions.get(ids.execution as never)).toMatchObject({ prompt: 'Do it', summary: null })
  expect(read.tasks.get(task)).toMatchObject({ title: 'Kept', status: 'review', version: 7 })
  expect(read.transitions.byTask(task)).toHaveLength(4)
  store.close()
})

test('gives agents a new budget for a person’s action before the migration', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  const { ids } = await writeOldFile(file, folder.path)
  const store = createStore(await openDatabase(file, migrations))
  const task = store.read.tasks.get(ids.task as never)
  expect(task?.last_human_action_id).toBe(
    store.read.transitions.byTask(ids.task as never).findLast((one) => one.triggered_by.startsWith('user:'))?.id,
  )
  const rejections = store.read.transitions.rejectionsByGate(ids.task as never, task?.last_human_action_id ?? null)
  expect(rejections.get('review')).toBe(1)
  expect(store.read.tasks.get(ids.untouched as never)?.last_human_action_id).toBeNull()
  store.close()
})

test('stores comments, knowledge and notifications in a migrated file', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  const { ids } = await writeOldFile(file, folder.path)
  const store = createStore(await openDatabase(file, migrations))
  const own = { project_id: ids.project as never, created_at: at }
  const entry = {
    id: v7() as never,
    title: 'Ports',
    body: 'Ask the system for a free one.',
    status: 'accepted' as const,
    accepted_by: null,
    edited_by: null,
    updated_at: at,
    ...own,
    source: { by: 'system', task_id: ids.task as never, execution_id: ids.execution as never },
  }
  store.write((q) => {
    q.knowledge.put(entry)
  })
  expect(
    store.read.knowledge.search(
      own.project_id,
      'free port',
      { status: 'accepted', task_id: null },
      { offset: 0, limit: 5 },
    ),
  ).toEqual([entry])
  expect(store.read.knowledge.bySourceTask(ids.task as never)).toEqual(entry)
  store.close()
})
