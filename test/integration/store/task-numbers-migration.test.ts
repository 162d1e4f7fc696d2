import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createStore } from '../../../src-main/store/create-store.ts'
import { openDatabase } from '../../../src-main/store/database.ts'
import type { ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import { earlierMigrations, insert } from './earlier-migrations.ts'
import { at, migrations, temporaryFolder } from './open-store.ts'

test('gives old projects keys, and their tasks numbers in order of creation', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  const opened = await openDatabase(file, await earlierMigrations(folder.path, 14))
  const client = opened.db.$client
  const day = (number: number) => `2026-11-0${number}T10:00:00.000Z`
  const names = ['Shop', 'Shop', 'Big Data Tool', 'カンバン', '漢字', 'Überseehandel']
  for (const [index, name] of names.entries()) {
    const times = { created_at: day(index + 1), updated_at: at }
    insert(client, 'projects', { id: `P${index}`, name, workflow_definition: '', settings: '{}', ...times })
  }
  const task = (id: string, project_id: string, created_at: string, archived = 0) => {
    insert(client, 'tasks', {
      ...{ id, project_id, repo_id: 'R', title: id, status: 'done', version: 1, entry_barrier: 0, archived },
      ...{ review_config: '{}', roles: '{}', labels: '[]', priority: 0, position: 1, created_at, updated_at: at },
    })
  }
  task('late', 'P0', day(3))
  task('early', 'P0', day(1), 1)
  task('middle', 'P0', day(2))
  task('other', 'P1', day(9))
  opened.close()

  const store = createStore(await openDatabase(file, migrations))
  try {
    expect(store.read.projects.list().map(({ key }) => key)).toEqual(['SHO', 'SHOP', 'BDT', 'PRJ', 'PRA', 'UBE'])
    const numberOf = (id: string) => store.read.tasks.get(id as TaskId)?.number
    expect(['early', 'middle', 'late', 'other'].map(numberOf)).toEqual([1, 2, 3, 1])
    const next = (id: string) => store.write((q) => q.tasks.nextNumber(id as ProjectId))
    expect([next('P0'), next('P0'), next('P1'), next('P2')]).toEqual([4, 5, 2, 1])
  } finally {
    store.close()
  }
})
