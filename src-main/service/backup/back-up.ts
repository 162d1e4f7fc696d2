import { randomUUID } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { readConfig } from '../../platform/config/config.ts'
import type { StartOptions } from '../start-service.ts'
import { writeArchive } from './archive.ts'
import { BackupError, runInterruptibly } from './backup-error.ts'
import { databaseName, listFiles } from './contents.ts'
import type { DatabaseTools } from './database-tools.ts'
import { createProgress, type Progress } from './progress.ts'

type Options = Pick<StartOptions, 'program' | 'env' | 'dataDir'> & {
  readonly database: DatabaseTools
  /** `-`: stdout. */
  readonly file: string
  readonly json: boolean
}

/**
 * Writes a backup of the data folder, whether or not its service runs. Resolves to the exit code. The command reads the
 * files itself and needs no sign-in: a backup has the signing key in it, which no token may reach.
 */
export function backUp(options: Options): Promise<number> {
  return runInterruptibly(async (signal) => {
    const { dataDir } = readConfig(options.env, options, options.program)
    if (!existsSync(join(dataDir, databaseName)))
      throw new BackupError(`There is no data in ${dataDir}. Name the data folder with --data-dir.`)
    if (options.file === '-' && process.stdout.isTTY)
      throw new BackupError("A terminal can't keep a backup. Name a file, or pipe the output.")
    using progress = createProgress(options.json)
    const draft = join(dataDir, `${databaseName}.backup-${randomUUID()}`)
    await removeLeft(dataDir, `${databaseName}.backup-`)
    try {
      const about = await copyChecked(dataDir, draft, { ...options, signal, progress })
      const write = async (out: Writable): Promise<number> => {
        // Listed after the copy of the database, so that all files are there that it names.
        const names = await listFiles(dataDir)
        const files = names.map((name) => ({ name, path: join(dataDir, name) }))
        let done = 0
        const onFile = () => progress.show(`Writing file ${++done} of ${files.length + 1}…`)
        return await writeArchive(out, about, [{ name: databaseName, path: draft }, ...files], { signal, onFile })
      }
      if (options.file === '-') await write(ownOutput())
      else await replaceFile(resolve(options.file), write, options, progress)
    } finally {
      await rm(draft, { force: true })
      await rm(`${draft}-journal`, { force: true })
    }
  })
}

/** Stdout, whose errors fail the backup: other commands end well when their reader has seen enough. */
function ownOutput(): Writable {
  process.stdout.removeAllListeners('error')
  return process.stdout
}

interface CopyOptions extends Pick<Options, 'program' | 'database'> {
  readonly signal: AbortSignal
  readonly progress: Progress
}

async function copyChecked(dataDir: string, to: string, { signal, progress, program, database }: CopyOptions) {
  const made_at = new Date().toISOString()
  const onProgress = (share: number) => progress.show(`Copying the database: ${Math.floor(share * 100)} %`)
  await database.copyDatabase(join(dataDir, databaseName), to, { signal, onProgress })
  const { applied, damage } = database.checkDatabase(to)
  if (damage !== null)
    throw new BackupError(`${join(dataDir, databaseName)} is damaged (${damage}). No backup was made.`)
  return { version: program.version, made_at, migrations: applied }
}

/** Writes beside the file and renames, so that its name never stands for half a backup. */
async function replaceFile(
  file: string,
  write: (out: Writable) => Promise<number>,
  { json }: Pick<Options, 'json'>,
  progress: Progress,
): Promise<void> {
  if ((await stat(file).catch(orNull))?.isDirectory()) throw new BackupError(`${file} is a folder. Name a file.`)
  const beginning = `${basename(file)}.part-`
  await removeLeft(dirname(file), beginning)
  const part = join(dirname(file), `${beginning}${randomUUID()}`)
  try {
    const files = await write(createWriteStream(part, { mode: 0o600, flags: 'wx', flush: true }))
    const { size } = await stat(part)
    await rename(part, file)
    progress[Symbol.dispose]()
    const line = json
      ? JSON.stringify({ event: 'backup_made', file, bytes: size, files })
      : `Backup written to ${file} (${Math.ceil(size / 1_048_576)} MB). It holds the signing key: keep it private.`
    process.stdout.write(`${line}\n`)
  } finally {
    await rm(part, { force: true })
  }
}

const leftMs = 3_600_000

/** Removes what a killed backup left. One that is being made was written to a moment ago. */
async function removeLeft(folder: string, beginning: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(beginning)) continue
    const info = await stat(join(folder, name)).catch(orNull)
    if (info !== null && Date.now() - info.mtimeMs > leftMs) await rm(join(folder, name), { force: true })
  }
}

function orNull(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
