import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import SqliteDatabase from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../src-main/store/database.ts'
import { createStore } from '../../../src-main/store/create-store.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { migrations, openStore, temporaryFolder } from './open-store.ts'

function ask<T>(file: string, sql: string): T[] {
  const client = new SqliteDatabase(file, { readonly: true })
  try {
    return client.prepare(sql).all() as T[]
  } finally {
    client.close()
  }
}

/** The migrations with one more, as a next version would add it. */
async function nextVersion(folder: string, sql: string): Promise<string> {
  const next = join(folder, 'migrations')
  await cp(migrations, next, { recursive: true })
  const path = join(next, 'meta/_journal.json')
  const journal = JSON.parse(await readFile(path, 'utf8')) as { entries: { idx: number; when: number }[] }
  const last = journal.entries.at(-1)
  const idx = (last?.idx ?? 0) + 1
  const entry = { ...last, idx, when: (last?.when ?? 0) + 1_000, tag: '9999_next' }
  await writeFile(path, JSON.stringify({ ...journal, entries: [...journal.entries, entry] }))
  await writeFile(join(next, '9999_next.sql'), sql)
  return next
}

test('makes every table STRICT and the journal a WAL', async () => {
  await using open = await openStore()
  const tables = ask<{ name: string; strict: number }>(
    open.file,
    `SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_\\_drizzle%' ESCAPE '\\'`,
  )
  expect(tables.map((table) => table.name)).toContain('tasks')
  expect(tables.filter((table) => table.strict !== 1)).toEqual([])
  expect(ask(open.file, 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }])
})

test('writes the journal into the file beside other work, and leaves none when it is closed meanwhile', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  const database = await openDatabase(file, migrations)
  const store = createStore(database)
  const write = (count: number) => {
    for (let i = 0; i < count; i++) store.write((q) => q.events.append('agent.updated', null, { i }))
  }
  write(10)
  await store.checkpoint()
  await cp(file, `${file}.copy`)
  expect(ask(`${file}.copy`, 'SELECT count(*) AS n FROM events')).toEqual([{ n: 10 }])
  await rm(`${file}.copy`)
  for (const suffix of ['-shm', '-wal']) await rm(`${file}.copy${suffix}`, { force: true })
  write(490)
  store.close()
  expect(await readdir(folder.path)).toEqual(['copse.db', 'copse.db.clean'])
  expect(ask(file, 'SELECT count(*) AS n FROM events')).toEqual([{ n: 500 }])
})

test('refuses a reference to nothing and a value of the wrong type', async () => {
  await using open = await openStore()
  const task = open.task()
  expect(() => open.task({ id: task.id, project_id: task.id as never })).toThrow('FOREIGN KEY')
  expect(() => open.store.write((q) => q.tasks.put({ ...task, version: 'x' as never }))).toThrow()
})

test('copies an older file before it migrates it, and keeps its rows', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  const first = await openDatabase(file, migrations)
  const store = createStore(first)
  const at = '2026-11-21T09:30:00.000Z'
  const row = {
    name: 'Kept',
    key: 'KEP',
    owner_id: null,
    paused_at: null,
    workflow_definition: '',
    settings: {},
    created_at: at,
    updated_at: at,
  }
  const id = '019a0000-0000-7000-8000-000000000001' as never
  store.write((q) => q.projects.put({ ...row, id }))
  store.close()
  expect(await readdir(folder.path)).toEqual(['copse.db', 'copse.db.clean'])

  // From an old update, and a copy of the user's own.
  for (const name of ['before-1', 'before-the-move']) await writeFile(`${file}.${name}`, '')
  const next = await nextVersion(folder.path, 'ALTER TABLE projects ADD COLUMN colour TEXT;')
  const second = await openDatabase(file, next)
  const migrated = createStore(second)
  expect(migrated.read.projects.get(id)?.name).toBe('Kept')
  migrated.close()
  expect((await readdir(folder.path)).filter((name) => /before-1$|before-the/.test(name))).toEqual([
    'copse.db.before-the-move',
  ])
  const [copy] = (await readdir(folder.path)).filter((name) => /before-\d+$/.test(name))
  expect(ask(join(folder.path, copy ?? ''), 'SELECT name FROM projects')).toEqual([{ name: 'Kept' }])
  expect(ask(join(folder.path, copy ?? ''), 'PRAGMA table_info(projects)')).not.toContainEqual(
    expect.objectContaining({ name: 'colour' }),
  )

  // A second start changes and copies nothing; the earlier version can't read the file any more.
  const again = await openDatabase(file, next)
  again.close()
  expect((await readdir(folder.path)).filter((name) => /before-\d+$/.test(name))).toHaveLength(1)
  await expect(openDatabase(file, migrations)).rejects.toMatchObject({
    code: 'database_too_new',
    message: expect.stringMatching(/newer Copse.*Update Copse/) as string,
  })
  expect(ask(file, 'SELECT name FROM projects')).toEqual([{ name: 'Kept' }])
})

test('leaves the file alone when a migration fails', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  const first = await openDatabase(file, migrations)
  first.close()
  const before = ask(file, 'SELECT sql FROM sqlite_master ORDER BY name')
  const broken = await nextVersion(
    folder.path,
    'ALTER TABLE projects ADD COLUMN colour TEXT;--> statement-breakpoint\nALTER TABLE nowhere ADD COLUMN x TEXT;',
  )
  await expect(openDatabase(file, broken)).rejects.toThrow()
  expect(ask(file, 'SELECT sql FROM sqlite_master ORDER BY name')).toEqual(before)
})

test('rolls a transaction back when it throws', async () => {
  await using open = await openStore()
  const task = open.task()
  expect(() =>
    open.store.write((q) => {
      q.tasks.put({ ...task, title: 'Changed' })
      q.events.append('task.deleted', open.project_id, {})
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(open.store.read.tasks.get(task.id)?.title).toBe(task.title)
  expect(open.store.read.events.range()).toEqual({ first: 0, last: 0 })
})

test('has the same schema in code and migrations', async () => {
  await using folder = await temporaryFolder()
  const out = join(folder.path, 'migrations')
  await cp(migrations, out, { recursive: true })
  const config = join(folder.path, 'drizzle.config.json')
  const schema = [
    'identity',
    'work',
    'derived',
    'reviews',
    'notes',
    'diffs',
    'chapters',
    'integrations',
    'pull-requests',
    'runners',
  ].map((name) => join(projectRoot, `src-main/store/schema/${name}.ts`))
  await writeFile(config, JSON.stringify({ dialect: 'sqlite', schema, out: './migrations' }))
  const kit = join(projectRoot, 'node_modules/drizzle-kit/bin.cjs')
  const { stdout } = await promisify(execFile)(process.execPath, [kit, 'generate', '--config', config], {
    cwd: folder.path,
  })
  expect(stdout).toContain('No schema changes')
  expect(await readdir(out)).toEqual(await readdir(migrations))
})
