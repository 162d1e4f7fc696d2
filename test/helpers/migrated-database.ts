import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { leaveCleanMark } from '../../src-main/store/clean-mark.ts'
import { openDatabase } from '../../src-main/store/database.ts'
import { projectRoot } from './project-root.ts'

let migrated: Promise<Uint8Array> | undefined

/** Writes an empty database with all migrations to `file`. They run once a test process: they are half of a start. */
export async function writeMigratedDatabase(file: string): Promise<void> {
  migrated ??= migrate()
  writeFileSync(file, await migrated, { mode: 0o600 })
  leaveCleanMark(file)
}

async function migrate(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'copse-migrated-'))
  try {
    const file = join(folder, 'copse.db')
    const database = await openDatabase(file, resolve(projectRoot, 'src-main/store/migrations'))
    database.close()
    return readFileSync(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
