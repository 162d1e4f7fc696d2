import { join } from 'node:path'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { createStore } from '../../../src-main/store/create-store.ts'
import { openDatabase } from '../../../src-main/store/database.ts'
import { earlierMigrations, insert } from './earlier-migrations.ts'
import { at, migrations, temporaryFolder } from './open-store.ts'

test('reads pending effects and hooks that were stored under the earlier names', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  const [project_id, task_id] = [v7(), v7()]
  const opened = await openDatabase(file, await earlierMigrations(folder.path, 24))
  const client = opened.db.$client
  const times = { created_at: at, updated_at: at }
  insert(client, 'projects', {
    id: project_id,
    key: 'OLD',
    name: 'Old',
    workflow_definition: '',
    settings: '{}',
    ...times,
  })
  const task = { id: task_id, number: 1, project_id, repo_id: v7(), title: 'Kept', status: 'review', position: 1 }
  const lists = { review_config: '{}', roles: '{}', labels: '[]' }
  const numbers = { version: 1, entry_barrier: 0, priority: 0, archived: 0 }
  insert(client, 'tasks', { ...task, ...lists, ...numbers, ...times, attended_mark: 'an action' })
  const effect = { kind: 'enter', cursor: 2, steps: [] }
  const hooks = { event: 'on_work_start', hooks: [], cursor: 1 }
  for (const data of [{ ...effect, held: true, mark: 'a "marker"', redo: [0, 3] }, effect])
    insert(client, 'effects', { task_id, data: JSON.stringify(data) })
  for (const data of [{ ...hooks, mark: 'another' }, hooks])
    insert(client, 'occasions', { task_id, data: JSON.stringify(data) })
  opened.close()
  const store = createStore(await openDatabase(file, migrations))
  const { read } = store
  const id = task_id as never
  expect(read.tasks.get(id)?.last_human_action_id).toBe('an action')
  expect(read.effects.ofProject(project_id as never).map(({ data }) => data)).toEqual([
    { ...effect, blocked: true, process_marker: 'a "marker"', retry_steps: [0, 3] },
    effect,
  ])
  expect(read.pendingHooks.ofTask(id).map(({ data }) => data)).toEqual([{ ...hooks, process_marker: 'another' }, hooks])
  store.close()
})
