import { mkdir, mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { readConfig } from '../../platform/config/config.ts'
import { prepareDataDir } from '../../platform/config/paths.ts'
import { lockDataDir } from '../../platform/locks/single-instance.ts'
import type { StartOptions } from '../start-service.ts'
import { readArchive, tooNew, type About } from './archive.ts'
import { BackupError, runInterruptibly } from './backup-error.ts'
import { databaseName, otherParts } from './contents.ts'
import type { DatabaseTools } from './database-tools.ts'
import { createProgress, type Progress } from './progress.ts'

type Options = Pick<StartOptions, 'program' | 'env' | 'dataDir'> & {
  readonly database: DatabaseTools
  /** `-`: stdin. */
  readonly file: string
  /** Move data that is there aside, instead of refusing. */
  readonly replace: boolean
  readonly json: boolean
}

const draftBeginning = 'restore-'

/** Puts a backup into the data folder of a stopped service. Resolves to the exit code. */
export function restore(options: Options): Promise<number> {
  return runInterruptibly(async (signal) => {
    const { dataDir, migrationsDir } = readConfig(options.env, options, options.program)
    await using opened = await openInput(options.file)
    prepareDataDir(dataDir)
    using _ = lockDataDir(dataDir)
    const old = await findData(dataDir)
    if (old.length > 0 && !options.replace)
      throw new BackupError(`${dataDir} holds data. Name an empty folder, or move that data aside with --replace.`)
    await removeLeft(dataDir)
    const draft = await mkdtemp(join(dataDir, draftBeginning))
    try {
      using progress = createProgress(options.json)
      const about = await unpack(opened, draft, { ...options, signal, progress, migrationsDir })
      signal.throwIfAborted()
      const aside = await swap(dataDir, draft, old)
      progress[Symbol.dispose]()
      tell(about, { dataDir, aside, json: options.json })
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  })
}

interface Input extends AsyncDisposable {
  readonly stream: Readable
  /** Names the input in messages. */
  readonly shown: string
  /** Unknown of a pipe. */
  readonly size: number | null
}

async function openInput(file: string): Promise<Input> {
  if (file === '-') {
    const end = () => Promise.resolve(void process.stdin.destroy())
    return { stream: process.stdin, shown: 'The input', size: null, [Symbol.asyncDispose]: end }
  }
  const path = resolve(file)
  const handle = await open(path)
  const { size } = await handle.stat()
  const stream = handle.createReadStream({ autoClose: false })
  return { stream, shown: path, size, [Symbol.asyncDispose]: () => handle.close() }
}

interface UnpackOptions extends Pick<Options, 'database'> {
  readonly signal: AbortSignal
  readonly progress: Progress
  readonly migrationsDir: string
}

/** Reads a backup into a folder, and checks all of it. */
async function unpack(
  { stream, shown, size }: Input,
  folder: string,
  { signal, progress, migrationsDir, database }: UnpackOptions,
): Promise<About> {
  let read = 0
  stream.on('data', (bytes: Buffer) => {
    read += bytes.length
    progress.show(size === null ? 'Reading the backup…' : `Reading the backup: ${Math.floor((100 * read) / size)} %`)
  })
  const known = database.countKnown(migrationsDir)
  const accept = ({ migrations, version }: About) => {
    if (migrations > known) throw tooNew(shown, version)
  }
  const about = await readArchive(stream, folder, { signal, shown, accept })
  const { applied, damage } = database.checkDatabase(join(folder, databaseName))
  if (damage !== null)
    throw new BackupError(`The database in ${shown} is damaged (${damage}). Nothing was restored. Use another backup.`)
  accept({ ...about, migrations: applied })
  return about
}

/** Lists what a backup would replace, the database with its journal first. */
async function findData(dataDir: string): Promise<readonly string[]> {
  const database = (await readdir(dataDir)).filter((name) => name.startsWith(databaseName))
  const isThere = async (name: string) => ((await stat(join(dataDir, name)).catch(orNull)) === null ? [] : [name])
  return [...database, ...(await Promise.all(otherParts.map(isThere))).flat()]
}

async function removeLeft(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (name.startsWith(draftBeginning)) await rm(join(dataDir, name), { recursive: true, force: true })
}

/**
 * Moves old data aside and the new data in; returns where the old data is now. The database leaves first and arrives
 * last, so that no start after a crash in between finds a database with the files of another. All within the data
 * folder, which may be a mounted volume.
 */
async function swap(dataDir: string, draft: string, old: readonly string[]): Promise<string | null> {
  const moved: (readonly [from: string, to: string])[] = []
  const move = async (from: string, to: string) => {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    await rename(from, to)
    moved.push([from, to])
  }
  const aside = join(dataDir, `replaced-${new Date().toISOString().replaceAll(':', '-')}`)
  try {
    for (const name of old) await move(join(dataDir, name), join(aside, name))
    for (const name of [...otherParts, databaseName])
      if ((await stat(join(draft, name)).catch(orNull)) !== null) await move(join(draft, name), join(dataDir, name))
  } catch (error) {
    for (const [from, to] of moved.toReversed()) await rename(to, from)
    throw error
  }
  return old.length > 0 ? aside : null
}

function tell(
  { version, made_at }: About,
  { dataDir, aside, json }: { readonly dataDir: string; readonly aside: string | null; readonly json: boolean },
): void {
  const kept = aside === null ? '' : ` The data that was there is in ${aside}.`
  const line = json
    ? JSON.stringify({ event: 'restored', data_dir: dataDir, version, made_at, replaced: aside })
    : `Restored the backup of ${made_at} into ${dataDir}.${kept}`
  process.stdout.write(`${line}\n`)
}

function orNull(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
