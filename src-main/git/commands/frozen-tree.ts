import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, readlink, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMissing } from '../files/file-errors.ts'
import { resolveCommit } from './branch.ts'
import { withoutLock } from './committed-lock.ts'
import { allButCopies, findCopies, unstageCopies } from './copied-files.ts'
import { filesOf, listInner } from './nested.ts'
import { readGit, runGit } from './run-git.ts'
import type { Git, GitOptions } from './run-git.ts'
import { copyIndex, ownObjectsEnv } from './own-index.ts'
import { addUnread } from './snapshot.ts'
import { excludeLockFile, unmonitored } from './status.ts'
import { makeTemporary } from './temporary-folder.ts'
import { findUnread } from './unread-files.ts'
import type { UnreadFile } from './unread-files.ts'

type Options = Pick<GitOptions, 'signal'>

/** What a path contained when it was read. */
type Found =
  /** A copy is in the frozen folder, or the path is empty and has none. */
  | { readonly kind: 'settled' }
  | { readonly kind: 'repository'; readonly commit: string }
  /** A repository without a commit, or an unreadable file: the index entry is used. */
  | { readonly kind: 'left' }

const slash = 0x2f

/**
 * Calls `use` with the tree of a worktree whose files come and go: git fails when a file that it has just listed
 * disappears, so it reads copies. Writes nothing into the repository; the tree exists while `use` runs.
 */
export async function withFrozenTree<T>(
  worktree: string,
  { git_dir, base, signal }: Options & { readonly git_dir: string; readonly base: string | null },
  use: (tree: string, env: Readonly<Record<string, string>>, unread: readonly UnreadFile[]) => Promise<T>,
): Promise<T> {
  const changed = ['--modified', '--deleted', '--others', '--exclude-standard']
  const copies = await findCopies(worktree, { signal, git_dir })
  const patterns = [...excludeLockFile, ...allButCopies(copies)]
  const { stdout } = await runGit(worktree, [...unmonitored, 'ls-files', '-z', ...changed, '--', ...patterns], {
    signal,
  })
  const objects = await readGit(worktree, ['rev-parse', '--path-format=absolute', '--git-path', 'objects'], { signal })
  const temporary = await makeTemporary('frozen')
  try {
    const frozen = join(temporary, 'files')
    await mkdir(frozen)
    const paths = new Map(splitPaths(stdout))
    const inner = await listInner(worktree, { signal })
    for (const key of [...inner.nested, ...inner.worktrees]) paths.delete(key)
    for (const key of inner.nested) {
      for (const name of await filesOf(worktree, key, { signal })) paths.set(name, Buffer.from(name, 'latin1'))
    }
    const unread = await findUnread(worktree, [...paths.keys()])
    const read = [...paths].filter(([key]) => !unread.has(key)).map(([, path]) => path)
    const { settled, repositories } = await freeze(worktree, frozen, read, { signal })
    const index = join(temporary, 'index')
    await copyIndex(join(git_dir, 'index'), index)
    const env = { GIT_INDEX_FILE: index, ...(await ownObjectsEnv(temporary, objects)) }
    const options = { signal, env, access: 'write' as const }
    const place = [`--git-dir=${git_dir}`, `--work-tree=${frozen}`, '-c', 'core.bare=false', ...unmonitored]
    const forget = [...place, 'update-index', '-z', '--force-remove', '--stdin']
    const links = Buffer.from([...inner.nested, ...inner.worktrees].map((key) => `${key}\0`).join(''), 'latin1')
    if (links.length > 0) await runGit(frozen, forget, { ...options, input: links })
    const update = [...place, 'update-index', '-z', '--add', '--remove', '--replace', '--stdin']
    await runGit(frozen, update, { ...options, input: settled })
    await runGit(worktree, [...unmonitored, 'update-index', '-z', '--index-info'], { ...options, input: repositories })
    const git: Git = (args, more = {}) => runGit(worktree, args, { ...options, ...more })
    await unstageCopies(git, copies)
    await withoutLock(git, base)
    await addUnread(worktree, git, [...unread.values()])
    const lenient = unread.size > 0 ? ['--missing-ok'] : []
    return await use(await readGit(worktree, ['write-tree', ...lenient], options), env, [...unread.values()])
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

async function freeze(worktree: string, frozen: string, paths: readonly Buffer[], { signal }: Options) {
  const settled: Buffer[] = []
  const repositories: Buffer[] = []
  for (const path of paths) {
    signal.throwIfAborted()
    const found = await freezeOne(below(worktree, path), below(frozen, path), { signal })
    if (found.kind === 'settled') settled.push(path, Buffer.of(0))
    if (found.kind === 'repository') repositories.push(Buffer.from(`160000 ${found.commit}\t`), path, Buffer.of(0))
  }
  return { settled: Buffer.concat(settled), repositories: Buffer.concat(repositories) }
}

async function freezeOne(from: Buffer, to: Buffer, { signal }: Options): Promise<Found> {
  try {
    const stats = await lstat(from)
    if (stats.isDirectory()) {
      const commit = await resolveCommit(from.toString(), 'HEAD', { signal })
      return commit === null ? { kind: 'left' } : { kind: 'repository', commit }
    }
    if (!stats.isFile() && !stats.isSymbolicLink()) return { kind: 'left' }
    await mkdir(Buffer.from(dirname(to.toString('latin1')), 'latin1'), { recursive: true })
    if (stats.isSymbolicLink()) await symlink(await readlink(from, 'buffer'), to)
    else await copyFile(from, to, constants.COPYFILE_FICLONE)
    return { kind: 'settled' }
  } catch (error) {
    if (isMissing(error)) return { kind: 'settled' }
    if (error instanceof Error && 'code' in error) return { kind: 'left' }
    throw error
  }
}

const below = (folder: string, path: Buffer): Buffer => Buffer.concat([Buffer.from(`${folder}/`), path])

/**
 * Returns the paths by their bytes, one character each; without the slash at the end of a folder's (a repository's)
 * path.
 */
function splitPaths(output: Buffer): ReadonlyMap<string, Buffer> {
  const paths = new Map<string, Buffer>()
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(0, at)
    const path = output.subarray(at, output[end - 1] === slash ? end - 1 : end)
    paths.set(path.toString('latin1'), path)
    at = end + 1
  }
  return paths
}
