import { chmod, open, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { expect, test } from 'vitest'
import { toApiError } from '../../../src-main/api/errors.ts'
import { openDatabase } from '../../../src-main/store/database.ts'
import { leaveCleanMark } from '../../../src-main/store/clean-mark.ts'
import { createLogLines } from '../../helpers/log-lines.ts'
import { refused } from '../../helpers/refusal.ts'
import { register } from '../../helpers/membership.ts'
import { runApp } from '../../helpers/running-app.ts'
import { migrations, temporaryFolder } from './open-store.ts'

async function filled(folder: string): Promise<string> {
  const file = join(folder, 'copse.db')
  const database = await openDatabase(file, migrations)
  database.close()
  return file
}

test('restricts the database and the files beside it to their owner', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  await writeFile(file, '', { mode: 0o644 })
  const database = await openDatabase(file, migrations)
  const names = (await readdir(folder.path)).toSorted()
  expect(names).toEqual(['copse.db', 'copse.db-shm', 'copse.db-wal'])
  const modes = await Promise.all(names.map(async (name) => (await stat(join(folder.path, name))).mode & 0o777))
  expect(modes).toEqual([0o600, 0o600, 0o600])
  database.close()
})

test('removes deleted data from the file', async () => {
  await using folder = await temporaryFolder()
  const file = await filled(folder.path)
  const database = await openDatabase(file, migrations)
  const secret = `secret-${'x'.repeat(3_000)}`
  database.db.$client.prepare(`INSERT INTO installation (key, value) VALUES ('note', ?)`).run(secret)
  database.db.$client.pragma('wal_checkpoint(TRUNCATE)')
  expect(await readFile(file, 'latin1')).toContain(secret)
  database.db.$client.exec(`DELETE FROM installation WHERE key = 'note'`)
  database.close()
  expect(await readFile(file, 'latin1')).not.toContain('secret-xxx')
})

/** Damages the first page of a table, like a failing disk. */
async function spoil(file: string, table: string): Promise<Buffer> {
  const client = new SqliteDatabase(file, { readonly: true })
  const { pgno } = client.prepare(`SELECT rootpage AS pgno FROM sqlite_master WHERE name = ?`).get(table) as {
    pgno: number
  }
  client.close()
  const handle = await open(file, 'r+')
  await handle.write(Buffer.alloc(200, 0xa5), 0, 200, (pgno - 1) * 4_096)
  await handle.close()
  return await readFile(file)
}

test('finds a damaged page after the start, copies the file, and says so', async () => {
  await using folder = await temporaryFolder()
  const file = await filled(folder.path)
  const spoilt = await spoil(file, 'knowledge')
  const { log, lineWith } = createLogLines()
  await using running = await runApp({ dataDir: folder.path, keepData: true, log })
  const { msg } = await lineWith('is damaged')
  expect(msg).toContain(`A copy was kept as ${file}.damaged.`)
  expect((await running.client.call('system.get', {})).damage).toBe(msg)
  const other = await register(running, 'Member')
  expect((await other.client.call('system.get', {})).damage).toBe(
    'The database is damaged. An admin can see what to do.',
  )
  expect(spoilt.equals(await readFile(`${file}.damaged`))).toBe(true)
})

test('checks only a file that was not closed cleanly, or was changed since', async () => {
  await using folder = await temporaryFolder()
  const file = await filled(folder.path)
  const attempt = async () => {
    const database = await openDatabase(file, migrations)
    const damage = await database.damage
    database.close()
    return damage?.message ?? null
  }
  await spoil(file, 'knowledge')
  leaveCleanMark(file)
  expect(await attempt()).toBeNull()
  await writeFile(`${file}.clean`, '{}')
  expect(await attempt()).toContain(`${file}.damaged.`)
  // A damaged file gets no mark of a clean end.
  expect(await attempt()).toContain(`${file}.damaged-2`)
})

test('reports damage that prevents a start', async () => {
  await using folder = await temporaryFolder()
  const file = await filled(folder.path)
  await spoil(file, 'executions_open')
  await expect(runApp({ dataDir: folder.path, keepData: true })).rejects.toMatchObject({
    code: 'database_unusable',
    message: expect.stringContaining(`A copy was kept as ${file}.damaged`) as string,
  })
})

test('keeps a file that is no database', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  await writeFile(file, 'Dear diary. '.repeat(1_000))
  await expect(openDatabase(file, migrations)).rejects.toMatchObject({ code: 'database_unusable' })
  expect(await readFile(`${file}.damaged`, 'utf8')).toContain('Dear diary')
})

test('says that another program holds the file', async () => {
  await using folder = await temporaryFolder()
  const file = await filled(folder.path)
  const other = new SqliteDatabase(file)
  other.pragma('locking_mode = EXCLUSIVE')
  other.exec('BEGIN EXCLUSIVE')
  try {
    await expect(openDatabase(file, migrations)).rejects.toMatchObject({
      code: 'database_unusable',
      message: expect.stringContaining('another program holds it') as string,
    })
  } finally {
    other.close()
  }
})

test.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
  'names a folder that cannot be written',
  async () => {
    await using folder = await temporaryFolder()
    await chmod(folder.path, 0o500)
    await expect(openDatabase(join(folder.path, 'copse.db'), migrations)).rejects.toMatchObject({
      code: 'database_unusable',
      message: expect.stringContaining('it cannot be written') as string,
    })
    await chmod(folder.path, 0o700)
  },
)

test('says that the database is held while it runs, and does nothing by halves', { timeout: 240_000 }, async () => {
  await using running = await runApp()
  const { client } = running
  const { id: agent_id } = await client.call('agents.create', { name: 'A', executor: 'external' })
  const other = new SqliteDatabase(join(running.dataDir, 'copse.db'))
  other.exec('BEGIN IMMEDIATE')
  const failed = await refused(client.call('agents.update', { agent_id, name: 'B' }))
  expect([failed.status, failed.message]).toEqual([
    500,
    'Another program holds the database, so nothing was changed. Try again.',
  ])
  other.exec('ROLLBACK')
  other.close()
  expect((await client.call('agents.get', { agent_id })).name).toBe('A')
  expect((await client.call('agents.update', { agent_id, name: 'B' })).name).toBe('B')
})

test.each([
  ['SQLITE_FULL', 'The disk is full'],
  ['SQLITE_READONLY_DBMOVED', "The database can't be written"],
  ['SQLITE_CORRUPT_INDEX', 'The database is damaged'],
  ['SQLITE_IOERR_WRITE', 'The disk reports an error'],
])('explains %s, also within another error', (code, words) => {
  const error = Object.assign(new Error('secret path'), { code })
  for (const thrown of [error, new Error('query failed', { cause: error })]) {
    const shown = toApiError(thrown)
    expect(shown).toMatchObject({ code: 'internal_error', message: expect.stringContaining(words) as string })
  }
})
