import { join } from 'node:path'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { createStore } from '../../../src-main/store/create-store.ts'
import { openDatabase } from '../../../src-main/store/database.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { earlierMigrations, insert } from './earlier-migrations.ts'
import { at, migrations, temporaryFolder } from './open-store.ts'

test('leaves old worktrees without ports, and allows no range twice', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  const opened = await openDatabase(file, await earlierMigrations(folder.path, 5))
  const project = v7()
  const [one, two] = [v7() as TaskId, v7() as TaskId]
  const times = { created_at: at, updated_at: at }
  insert(opened.db.$client, 'projects', { id: project, name: 'Old', workflow_definition: '', settings: '{}', ...times })
  for (const id of [one, two]) {
    insert(opened.db.$client, 'tasks', {
      id,
      project_id: project,
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
    insert(opened.db.$client, 'workspaces', {
      id: v7(),
      task_id: id,
      status: 'ready',
      repo_path: '/repo',
      branch: 'svc/kept',
      path: `/w/${id}`,
      base_branch: 'main',
      base_commit: 'abc',
      created_at: at,
    })
  }
  opened.close()

  const store = createStore(await openDatabase(file, migrations))
  try {
    const [first, second] = [one, two].map((id) => store.read.workspaces.byTask(id))
    if (!first || !second) throw new Error('A workspace was lost.')
    expect([first.port_base, second.port_base, first.path]).toEqual([null, null, `/w/${one}`])
    expect(store.read.workspaces.portBases()).toEqual(new Set())
    const give = (record: typeof first) => {
      store.write((q) => {
        q.workspaces.put({ ...record, port_base: 20_010 })
      })
    }
    give(first)
    expect(store.read.workspaces.portBases()).toEqual(new Set([20_010]))
    expect(() => {
      give(second)
    }).toThrow('UNIQUE')
  } finally {
    store.close()
  }
})
