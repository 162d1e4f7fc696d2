import { mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobGrant } from '../../ports/job-access.ts'
import { GitError } from '../commands/git-error.ts'
import type { Git } from '../commands/run-git.ts'
import { hasCode } from '../files/file-errors.ts'
import { quarantineOf } from './arrivals-folder.ts'
import { lendAttributes, type LentAttributes } from './lent-attributes.ts'

/** A push is refused as a whole; the message is for the one who pushed. */
export class PushRefusedError extends Error {
  override readonly name = 'PushRefusedError'
}

/** A pack that has arrived and is not part of the repository yet. */
export interface IncomingPack extends AsyncDisposable {
  /** Its objects; empty for a pack without any. */
  readonly ids: ReadonlySet<string>
  /** An object folder that has these alone. */
  readonly objects: string
  /**
   * Checks a `.gitmodules` that was there before under another name, where git has not looked at it as such. Only for a
   * pack that leans on nothing hidden: the refusal tells what is in the file.
   */
  checkLinks(): Promise<void>
  /** Makes them part of the repository. */
  moveIn(): Promise<void>
}

interface Incoming {
  readonly git: Git
  readonly folder: string
  readonly branch: string
  readonly grant: JobGrant
}

/** How much of a push that is refused is still read, so that git sees the answer. */
const maxDiscarded = 512 * 1024 * 1024

/** Reads the rest of a push that is refused. */
export async function discard(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > maxDiscarded) return
  }
}

/**
 * Writes a pack beside the repository and checks it there, where git sees no object but those of the pack, and the files of
 * attributes that the job may see: one that is written as a difference to any other is refused. Throws `PushRefusedError`; then nothing of it stays.
 */
export async function takeIn(
  { git, folder, branch, grant }: Incoming,
  chunks: AsyncIterable<Uint8Array>,
): Promise<IncomingPack> {
  await mkdir(quarantineOf(folder), { recursive: true, mode: 0o700 })
  const own = await mkdtemp(join(quarantineOf(folder), 'push-'))
  const dispose = (): Promise<void> => rm(own, { recursive: true, force: true, maxRetries: 3 })
  try {
    const objects = join(own, 'objects')
    await mkdir(join(objects, 'pack'), { recursive: true })
    await spool(incoming(objects, 'pack'), chunks, grant)
    const found = await indexPack(git, objects, await lendAttributes(git, { branch, to: join(own, 'lent') }))
    return {
      ids: found.ids,
      objects,
      checkLinks: async () => {
        if (found.modules.length > 0) await checkModules(git, folder, objects)
      },
      moveIn: () => moveIn(folder, objects, found),
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw isFull(error) ? new PushRefusedError(diskFull) : error
  }
}

async function spool(path: string, chunks: AsyncIterable<Uint8Array>, grant: JobGrant): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of chunks) {
      if (!grant.take(chunk.length)) await refuseRest(chunks, tooLarge(grant))
      try {
        await file.writeFile(chunk)
      } catch (error) {
        if (!isFull(error)) throw error
        await file.truncate(0)
        await refuseRest(chunks, diskFull)
      }
    }
    await file.datasync()
  } finally {
    await file.close()
  }
}

async function refuseRest(chunks: AsyncIterable<Uint8Array>, sentence: string): Promise<never> {
  await discard(chunks)
  throw new PushRefusedError(sentence)
}

/** What git found in a pack. */
interface Indexed {
  readonly name: string
  readonly ids: ReadonlySet<string>
  /** The `.gitmodules` files that its folders name and that it doesn't contain. */
  readonly modules: readonly string[]
}

async function indexPack(git: Git, objects: string, lent: LentAttributes): Promise<Indexed> {
  const env = { GIT_OBJECT_DIRECTORY: objects }
  const checked = { ...env, ...alternate(lent.objects) }
  const pack = incoming(objects, 'pack')
  const args = ['index-pack', '--fsck-objects', '--no-rev-index', '-o', incoming(objects, 'idx'), pack]
  const index = () => git(args, { access: 'write', env: checked })
  const { stdout } = await index()
    .catch(async (error: unknown) => {
      if (!(error instanceof GitError) || !error.stderr.includes('gitattributesMissing')) throw error
      await lent.lendAll()
      return await index()
    })
    .catch(refuseBroken)
  const [name = '', ...modules] = stdout.toString('latin1').trim().split('\n')
  const ids = new Set<string>()
  let rest = ''
  // The list of a large pack has millions of lines.
  await git(['cat-file', '--batch-all-objects', '--unordered', '--batch-check=%(objectname)'], {
    env,
    onOutput: (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\n')
      rest = lines.pop() ?? ''
      for (const id of lines) ids.add(id)
      return 'more'
    },
  })
  return { name, ids, modules }
}

/** Checks all again where git sees the other objects too. */
async function checkModules(git: Git, folder: string, objects: string): Promise<void> {
  const env = { GIT_OBJECT_DIRECTORY: objects, ...lends(folder) }
  const index = join(objects, 'strict.idx')
  const args = ['index-pack', '--strict', '--no-rev-index', '-o', index, incoming(objects, 'pack')]
  await git(args, { access: 'write', env }).catch(refuseBroken)
  await rm(index, { force: true })
}

/** Moves a pack into the repository. Git finds it by its list, which comes last. */
async function moveIn(folder: string, objects: string, { name, ids }: Indexed): Promise<void> {
  if (ids.size === 0) return
  for (const end of ['pack', 'idx'] as const)
    await rename(incoming(objects, end), join(folder, 'objects', 'pack', `pack-${name}.${end}`))
}

const incoming = (objects: string, end: 'pack' | 'idx'): string => join(objects, 'pack', `pack-incoming.${end}`)

function refuseBroken(error: unknown): never {
  if (!(error instanceof GitError) || error.code !== 'failed' || isFull(error)) throw error
  const said = error.stderr
    .split('\n')
    .filter((line) => /^(?:error|fatal): /.test(line))
    .map((line) => line.replace(/^(?:error|fatal): /, ''))
  throw new PushRefusedError(`The pack is not whole, or has an object that git refuses: ${said.join('; ')}`)
}

/** The environment in which git sees the objects of the repository too. */
export const lends = (folder: string): Readonly<Record<string, string>> => alternate(join(folder, 'objects'))

const alternate = (objects: string): Readonly<Record<string, string>> => ({
  GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objects.replaceAll(/["\\]/g, '\\$&')}"`,
})

function isFull(error: unknown): boolean {
  if (error instanceof GitError) return /No space left on device|Disk quota exceeded/.test(error.stderr)
  return hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
}

const diskFull = 'The disk of the service is full, so nothing of this push was kept. Make room there, then push again.'

const tooLarge = ({ max_push_mb }: JobGrant): string =>
  `This job has sent more than its ${max_push_mb} MB (setting max_push_mb), so nothing of this push was kept. ` +
  'Leave large files out of the commits, or raise the setting.'
