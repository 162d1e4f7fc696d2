import { createHash } from 'node:crypto'
import { constants, createWriteStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Transform, type Readable, type Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, pack, type Pack } from 'tar-stream'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { BackupError } from './backup-error.ts'
import { isPart } from './contents.ts'

/*
 * A backup is a tar file, compressed by gzip. Its first entry says what it is; its last has the SHA-256 of all others,
 * as `sha256sum -c` reads it, so that a file that was cut off is told from a whole one.
 */

const aboutName = 'copse-backup.json'
const sumsName = 'SHA256SUMS'
const format = 1

export interface About {
  /** Of the program that made it. */
  readonly version: string
  readonly made_at: string
  /** How many migrations its database has had. */
  readonly migrations: number
}

/** A file to put in, and where it is now. */
export interface ArchiveFile {
  readonly name: string
  readonly path: string
}

export interface ArchiveOptions {
  readonly signal: AbortSignal
  readonly onFile: (name: string) => void
}

/** Writes an archive of files to `out`. Leaves out those that are gone. Returns how many it has. */
export async function writeArchive(
  out: Writable,
  about: About,
  files: readonly ArchiveFile[],
  { signal, onFile }: ArchiveOptions,
): Promise<number> {
  const archive = pack()
  const written = pipeline(archive, createGzip(), out, { signal })
  const fill = async () => {
    await addText(archive, aboutName, `${JSON.stringify({ format, ...about }, null, 2)}\n`)
    const sums: string[] = []
    for (const { name, path } of files) {
      onFile(name)
      const sum = await addFile(archive, name, path)
      if (sum !== null) sums.push(sumLine(sum, name))
    }
    await addText(archive, sumsName, sums.join(''))
    archive.finalize()
    return sums.length
  }
  const filled = fill().catch((error: unknown) => {
    archive.destroy(error as Error)
    throw error
  })
  // The writing tells why the filling failed: its error is that of the disk.
  const [end, count] = await Promise.allSettled([written, filled])
  if (count.status === 'rejected' && count.reason instanceof BackupError) throw count.reason
  if (end.status === 'rejected') throw end.reason
  if (count.status === 'rejected') throw count.reason
  return count.value
}

const sumLine = (sum: string, name: string): string => `${sum}  ${name}\n`
const headerOf = (name: string, size: number) => ({ name, size, mode: 0o600, type: 'file' as const })

async function addText(archive: Pack, name: string, content: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  archive.entry(headerOf(name, Buffer.byteLength(content)), content, (error) => {
    if (error) reject(error)
    else resolve(undefined)
  })
  await promise
}

/** Adds as much of a file as it has now, because a log may grow. Returns its SHA-256, or null if the file is gone. */
async function addFile(archive: Pack, name: string, path: string): Promise<string | null> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)
  await using file = await open(path, flags).catch(orNull)
  if (file === null) return null
  const { size } = await file.stat()
  const hash = createHash('sha256')
  const entry = archive.entry(headerOf(name, size))
  let left = size
  const counted = hashing(hash, (bytes) => (left -= bytes))
  if (size === 0) await pipeline(counted.end(), entry)
  else await pipeline(file.createReadStream({ end: size - 1, autoClose: false }), counted, entry)
  if (left > 0) throw new BackupError(`${path} changed while it was read. Run the backup again.`)
  return hash.digest('hex')
}

function hashing(hash: ReturnType<typeof createHash>, count: (bytes: number) => void = () => undefined): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      count(chunk.length)
      done(null, chunk)
    },
  })
}

export interface ReadOptions {
  readonly signal: AbortSignal
  /** Names the file in messages. */
  readonly shown: string
  /** Sees what the archive is before anything is written; throws to refuse it. */
  readonly accept: (about: About) => void
}

/** Reads an archive into an empty folder. Throws `BackupError` for one that is damaged, cut off or no backup. */
export async function readArchive(
  input: Readable,
  folder: string,
  { signal, shown, accept }: ReadOptions,
): Promise<About> {
  const archive = extract()
  let about: About | null = null
  let sums = ''
  let listed: string | null = null
  const seen = new Set<string>()
  const take = async () => {
    for await (const entry of archive) {
      const { name, type, size = 0 } = entry.header
      if (about === null) {
        if (name !== aboutName || size > 65_536) throw foreign(shown)
        about = readAbout(await text(entry), shown)
        accept(about)
      } else if (listed !== null || type !== 'file' || seen.has(name)) {
        throw foreign(shown)
      } else if (name === sumsName) {
        listed = await text(entry)
      } else if (isPart(name)) {
        seen.add(name)
        sums += sumLine(await writeEntry(entry as AsyncIterable<Uint8Array>, join(folder, name)), name)
      } else {
        throw foreign(shown)
      }
    }
  }
  const [read, taken] = await Promise.allSettled([
    pipeline(input, createGunzip(), archive, { signal }),
    take().catch((error: unknown) => {
      archive.destroy(error as Error)
      throw error
    }),
  ])
  signal.throwIfAborted()
  const failures = [taken, read].flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
  const told = failures.find((error) => error instanceof BackupError || isOfSystem(error))
  if (told !== undefined) throw told
  if (about === null) throw foreign(shown)
  if (failures.length > 0 || listed !== sums) {
    throw new BackupError(`${shown} is damaged or incomplete. Nothing was restored. Use another backup.`)
  }
  return about
}

/** Errors of reading and writing files name what was called; those of the formats do not. */
const isOfSystem = (error: Error): boolean => 'syscall' in error

const foreign = (shown: string) => new BackupError(`${shown} isn't a backup of Copse. Nothing was restored.`)

function readAbout(content: string, shown: string): About {
  const value = parseJson(content)
  if (typeof value !== 'object' || value === null) throw foreign(shown)
  const { format: found, version, made_at, migrations } = value as Partial<Record<keyof About | 'format', unknown>>
  if (typeof found !== 'number' || typeof version !== 'string') throw foreign(shown)
  if (found > format) throw tooNew(shown, version)
  if (typeof made_at !== 'string' || typeof migrations !== 'number') throw foreign(shown)
  return { version, made_at, migrations }
}

export const tooNew = (shown: string, version: string): BackupError =>
  new BackupError(`${shown} was made by a newer Copse (${version}). Update Copse, then restore it.`)

async function writeEntry(entry: AsyncIterable<Uint8Array>, path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const hash = createHash('sha256')
  await pipeline(entry, hashing(hash), createWriteStream(path, { mode: 0o600, flags: 'wx' }))
  return hash.digest('hex')
}

function orNull(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
