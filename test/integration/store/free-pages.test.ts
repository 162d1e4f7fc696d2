import { stat } from 'node:fs/promises'
import SqliteDatabase from 'better-sqlite3'
import { expect, test } from 'vitest'
import { createStore } from '../../../src-main/store/create-store.ts'
import { openDatabase } from '../../../src-main/store/database.ts'
import { addManyTasks } from '../../helpers/many-tasks.ts'
import { earlierMigrations } from './earlier-migrations.ts'
import { deleteProject, migrations, openStore, temporaryFolder } from './open-store.ts'

test('frees a deleted project’s space in small steps', async () => {
  await using open = await openStore()
  const { $client } = open.database.db
  const repo = { id: 'R', project_id: open.project_id, name: 'r', path: '/r', default_branch: 'main', is_primary: true }
  open.store.write((q) => q.repos.put(repo as never))
  addManyTasks($client, { project_id: open.project_id, count: 4_000, promptBytes: 9_000 })
  $client.pragma('wal_checkpoint(TRUNCATE)')
  const { size: before } = await stat(open.file)
  deleteProject(open, open.project_id)
  let steps = 0
  for (; open.store.shrink(); steps++) if (steps % 20 === 0) await open.store.checkpoint()
  $client.pragma('wal_checkpoint(TRUNCATE)')
  const { size: after } = await stat(open.file)
  expect(before).toBeGreaterThan(40e6)
  // Some space is kept for the next writes.
  expect(after).toBeLessThan(20e6)
  expect(steps).toBeGreaterThan(3)
  expect($client.pragma('integrity_check', { simple: true })).toBe('ok')
})

test('prepares an older file for that during the update', async () => {
  await using folder = await temporaryFolder()
  const file = `${folder.path}/copse.db`
  const old = new SqliteDatabase(file)
  old.exec('PRAGMA auto_vacuum = 0; CREATE TABLE placeholder (id INTEGER); DROP TABLE placeholder')
  old.close()
  const before = await openDatabase(file, await earlierMigrations(folder.path, 11))
  expect(before.db.$client.pragma('auto_vacuum', { simple: true })).toBe(0)
  before.close()
  const after = await openDatabase(file, migrations)
  expect(after.db.$client.pragma('auto_vacuum', { simple: true })).toBe(2)
  after.close()
})

test('forgets events a few at a time', async () => {
  await using open = await openStore()
  const { store } = open
  store.write((q) => {
    for (let i = 0; i < 1_000; i++) q.events.append('agent.updated', null, { i })
  })
  const steps: [boolean, number][] = []
  for (let more = true; more;) {
    more = store.write((q) => q.events.trim(100))
    steps.push([more, store.read.events.range().first])
  }
  expect(steps).toEqual([
    [true, 401],
    [true, 801],
    [false, 901],
  ])
  expect(createStore(open.database).read.events.range()).toEqual({ first: 901, last: 1_000 })
})
