import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Cancellable } from '../../ports/cancellable.ts'
import { readGit } from '../commands/run-git.ts'
import { orNull } from '../files/file-errors.ts'
import { isLfsId } from './pointers.ts'

/** The folder in which Git LFS keeps a repository's objects: `lfs`, or what the configuration says. */
export async function lfsFolder(common: string, { signal }: Cancellable): Promise<string> {
  const args = ['--git-dir', common, 'config', '--type=path', '--get', 'lfs.storage']
  const set = await readGit(common, args, { signal, accept: [0, 1] })
  return resolve(common, set === '' ? 'lfs' : set)
}

/** Where an object lies in such a folder. */
export const lfsObject = (folder: string, oid: string): string =>
  join(folder, 'objects', oid.slice(0, 2), oid.slice(2, 4), oid)

export async function hasLfsObject(folder: string, oid: string): Promise<boolean> {
  return (await orNull(stat(lfsObject(folder, oid))))?.isFile() === true
}

/** Returns the IDs of all objects of such a folder. */
export async function listLfsObjects(folder: string): Promise<readonly string[]> {
  const entries = await orNull(readdir(join(folder, 'objects'), { recursive: true, withFileTypes: true }))
  return (entries ?? []).filter((entry) => entry.isFile() && isLfsId(entry.name)).map(({ name }) => name)
}

/** The bytes are not those of the object that was named. */
export class WrongLfsObjectError extends Error {
  override readonly name = 'WrongLfsObjectError'
}

/** More was sent than there is room for. */
export class LfsRoomError extends Error {
  override readonly name = 'LfsRoomError'
}

/** How much of what has no room is still read, so that its sender sees the answer. */
const maxDiscarded = 512 * 1024 * 1024

/**
 * Writes an object whole or not at all, and only if its bytes are those that its ID names; otherwise throws
 * `WrongLfsObjectError`. Throws `LfsRoomError` once `hasRoom` says no.
 */
export async function writeLfsObject(
  folder: string,
  oid: string,
  chunks: AsyncIterable<Uint8Array>,
  { signal, hasRoom = () => true }: Cancellable & { readonly hasRoom?: (bytes: number) => boolean },
): Promise<void> {
  const target = lfsObject(folder, oid)
  const made = join(folder, 'tmp', `copse-${randomUUID()}`)
  await mkdir(dirname(made), { recursive: true })
  const hash = createHash('sha256')
  let discarded = 0
  const counted = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      if (discarded > 0 || !hasRoom(chunk.length)) discarded += chunk.length
      if (discarded > maxDiscarded) return void done(new LfsRoomError('Too much was sent.'))
      if (discarded > 0) return void done()
      hash.update(chunk)
      done(null, chunk)
    },
  })
  try {
    await pipeline(chunks, counted, createWriteStream(made, { flags: 'wx', mode: 0o644, flush: true }), { signal })
    if (discarded > 0) throw new LfsRoomError('Too much was sent.')
    if (hash.digest('hex') !== oid) throw new WrongLfsObjectError(`These are not the bytes of ${oid}.`)
    await mkdir(dirname(target), { recursive: true })
    await rename(made, target)
  } finally {
    await rm(made, { force: true })
  }
}
