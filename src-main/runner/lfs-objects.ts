import { createReadStream } from 'node:fs'
import { appendFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { lfsFilesIn } from '../git/lfs/pointers.ts'
import { setLfsFilter } from '../git/lfs/lfs-filter.ts'
import { hasLfsObject, lfsFolder, lfsObject, listLfsObjects, writeLfsObject } from '../git/lfs/lfs-store.ts'
import type { PushTarget } from '../git/sending/push-work.ts'
import type { TaskClone } from '../git/sending/task-clone.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { NoContact } from './service-calls.ts'

/** Without an answer for so long, it is tried again. */
const answerMs = 10 * 60_000

/**
 * Brings the objects of Git LFS that these commits need, as far as the service has them, and sets the filter by which
 * files have their content. A file whose object is nowhere stays its pointer, as on the service's machine.
 */
export async function bringLfs(
  { repository }: TaskClone,
  commits: readonly string[],
  { target, program }: { readonly target: PushTarget; readonly program: readonly string[] },
  { signal }: Cancellable,
): Promise<void> {
  const files = (await Promise.all(commits.map((commit) => lfsFilesIn(repository, commit, { signal })))).flat()
  await setLfsFilter(repository, [...program, 'lfs'], { signal })
  const folder = await lfsFolder(repository, { signal })
  for (const oid of new Set(files.map((file) => file.oid))) {
    if (await hasLfsObject(folder, oid)) continue
    const response = await ask(target, oid, { signal })
    if (response.status === 404) {
      await response.body?.cancel()
      continue
    }
    if (!response.ok || response.body === null) throw noContact(response)
    await writeLfsObject(folder, oid, response.body, { signal }).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new NoContact('An object of Git LFS did not arrive.', { cause: error })
    })
    await note(repository, oid)
  }
}

/** Sends the objects of Git LFS that the service hasn't had from here; returns those that it did not take. */
export async function sendLfs(
  { repository }: TaskClone,
  target: PushTarget,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const folder = await lfsFolder(repository, { signal })
  const known = new Set((await readFile(noteFile(repository), 'utf8').catch(() => '')).split('\n'))
  const refused: string[] = []
  for (const oid of await listLfsObjects(folder)) {
    if (known.has(oid)) continue
    const path = lfsObject(folder, oid)
    const { size } = await stat(path)
    const response = await ask(target, oid, { signal, body: path, size })
    await response.body?.cancel()
    if (response.ok) await note(repository, oid)
    // Too much for one job, or another content than its name says: it stays here.
    else if (response.status === 413 || response.status === 422 || response.status === 400) refused.push(oid)
    else throw noContact(response)
  }
  return refused
}

/** Returns the files of a commit whose objects stay here. */
export async function filesOfLfs(
  { repository, objects }: TaskClone,
  commit: string,
  oids: readonly string[],
  { signal }: Cancellable,
): Promise<readonly string[]> {
  if (oids.length === 0) return []
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objects.replaceAll(/["\\]/g, '\\$&')}"` }
  const files = await lfsFilesIn(repository, commit, { signal, env })
  return files.filter(({ oid }) => oids.includes(oid)).map(({ path }) => path)
}

/** Which objects the service has, because they came from it or were sent. */
const noteFile = (repository: string): string => join(repository, 'copse-lfs')

const note = (repository: string, oid: string): Promise<void> => appendFile(noteFile(repository), `${oid}\n`)

async function ask(
  { url, token }: PushTarget,
  oid: string,
  { signal, body, size }: Cancellable & { readonly body?: string; readonly size?: number },
): Promise<Response> {
  try {
    return await fetch(`${url}/lfs/objects/${oid}`, {
      method: body === undefined ? 'GET' : 'PUT',
      headers: {
        authorization: `Bearer ${token}`,
        ...(size !== undefined && { 'content-length': String(size), 'content-type': 'application/octet-stream' }),
      },
      ...(body !== undefined && { body: Readable.toWeb(createReadStream(body)) as ReadableStream, duplex: 'half' }),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
    } as RequestInit)
  } catch (error) {
    signal.throwIfAborted()
    throw new NoContact('The service can’t be reached.', { cause: error })
  }
}

const noContact = ({ status }: Response): NoContact => new NoContact(`The service answered ${status}.`)
