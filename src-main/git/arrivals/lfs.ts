import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { LfsObject } from '../../ports/arrivals.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { JobGrant } from '../../ports/job-access.ts'
import { commonDir } from '../commands/worktree.ts'
import { orNull } from '../files/file-errors.ts'
import { LfsRoomError, lfsFolder, lfsObject, WrongLfsObjectError, writeLfsObject } from '../lfs/lfs-store.ts'
import { lfsFilesIn } from '../lfs/pointers.ts'
import { baseRef, gitOf, livePrefix, readRefs, type ArrivalsFolder } from './arrivals-folder.ts'

/**
 * Objects of Git LFS that jobs may have, by task: those that files of the base and of what was lent name. What a job
 * pushed lends it nothing, or it could name what it must not see.
 */
export function createLfsAccess() {
  const known = new Map<string, { readonly of: string; readonly oids: ReadonlySet<string> }>()
  const namedIn = async (at: ArrivalsFolder, { signal }: Cancellable): Promise<ReadonlySet<string>> => {
    const refs = await readRefs(gitOf(at, { signal }))
    const lent = [...refs].filter(([ref]) => ref === baseRef || ref.startsWith(`${livePrefix}lent/`))
    const commits = [...new Set(lent.map(([, commit]) => commit))].toSorted()
    const of = commits.join(' ')
    const before = known.get(at.folder)
    if (before?.of === of) return before.oids
    const files = await Promise.all(commits.map((commit) => lfsFilesIn(at.folder, commit, { signal })))
    const oids = new Set(files.flat().map(({ oid }) => oid))
    known.set(at.folder, { of, oids })
    return oids
  }
  return {
    read: async (at: ArrivalsFolder, oid: string, { signal }: Cancellable): Promise<LfsObject | null> => {
      if (!(await namedIn(at, { signal })).has(oid)) return null
      const path = lfsObject(await storeOf(at, { signal }), oid)
      const found = await orNull(stat(path))
      return found?.isFile() === true ? { size: found.size, content: createReadStream(path) } : null
    },
    forget: (folder: string) => void known.delete(folder),
  }
}

const storeOf = async ({ repo_path }: ArrivalsFolder, { signal }: Cancellable): Promise<string> =>
  await lfsFolder(await commonDir(repo_path, { signal }), { signal })

/** See `Arrivals.writeLfs`. */
export async function takeLfs(
  at: ArrivalsFolder,
  { oid, content }: { readonly oid: string; readonly content: AsyncIterable<Uint8Array> },
  { signal, grant }: Cancellable & { readonly grant: JobGrant },
): Promise<'taken' | 'wrong' | 'too_large'> {
  const hasRoom = (bytes: number): boolean => grant.take(bytes)
  try {
    await writeLfsObject(await storeOf(at, { signal }), oid, content, { signal, hasRoom })
    return 'taken'
  } catch (error) {
    if (error instanceof WrongLfsObjectError) return 'wrong'
    if (error instanceof LfsRoomError) return 'too_large'
    throw error
  }
}
