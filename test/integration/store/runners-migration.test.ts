import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createStore } from '../../../src-main/store/create-store.ts'
import { openDatabase } from '../../../src-main/store/database.ts'
import type { ExecutionId } from '../../../src-shared/contract/ids.ts'
import { hereRunner } from '../../../src-shared/contract/runners.ts'
import { earlierMigrations, insert } from './earlier-migrations.ts'
import { at, migrations, temporaryFolder } from './open-store.ts'

test('makes this machine a runner, where earlier runs were, and counts them by task and role', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  const opened = await openDatabase(file, await earlierMigrations(folder.path, 34))
  const client = opened.db.$client
  const times = { created_at: at, updated_at: at }
  insert(client, 'projects', { id: 'P', name: 'Shop', workflow_definition: '', settings: '{}', ...times })
  for (const [index, id] of ['T', 'U'].entries()) {
    insert(client, 'tasks', {
      ...{ id, project_id: 'P', number: index + 1, repo_id: 'R', title: id, status: 'done', version: 1 },
      ...{ entry_barrier: 0, archived: 0, review_config: '{}', roles: '{}', labels: '[]', priority: 0, position: 1 },
      ...times,
    })
  }
  const run = (id: string, task_id: string, more: Record<string, string | null> = {}) => {
    insert(client, 'executions', {
      ...{ id, task_id, project_id: 'P', role: 'coder', executor: 'command', status: 'succeeded', dispatched: 1 },
      ...{ prompt: '', overrides: '{}', started_at: at, created_at: at, ...more },
    })
  }
  run('1', 'T')
  run('2', 'T', { role: 'reviewer' })
  run('3', 'U')
  run('4', 'T', { executor: 'external' })
  run('5', 'T', { started_at: null, status: 'queued' })
  opened.close()

  const store = createStore(await openDatabase(file, migrations))
  try {
    const [here, ...others] = store.read.runners.list()
    expect(others).toEqual([])
    expect(here).toMatchObject({ id: hereRunner, kind: 'here', capacity: null, state: 'ready', config: null })
    const runs = ['1', '2', '3', '4', '5'].map((id) => store.read.executions.get(id as ExecutionId))
    expect(runs.map((found) => [found?.runner_id, found?.attempt])).toEqual([
      ['here', 1],
      ['here', 1],
      ['here', 1],
      [null, 2],
      [null, 3],
    ])
  } finally {
    store.close()
  }
})
