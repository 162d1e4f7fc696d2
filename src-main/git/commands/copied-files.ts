import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { fileState } from '../files/file-state.ts'
import { readGitLink } from './git-link.ts'
import { runGit, splitNul, type Git, type GitOptions } from './run-git.ts'
import { readPlain, writePlain } from '../files/plain-file.ts'

// Files that Copse copied into a worktree and that git does not ignore (`copy_files`) would pass for the task's work.
// As long as no one changed or committed them, they are left out of every diff, tree and commit.

type Options = Pick<GitOptions, 'signal'>

/** File in the worktree's own git folder. */
const listFile = 'svc-copied.json'
/** Each takes a pattern on git's command line. */
const maxCopied = 2_000

const CopiedFile = z.object({
  path: z.string(),
  /** Of the file as it was copied (`fileState`); equal, it need not be read. */
  state: z.string(),
  /** The kind of file with its content. */
  content: z.string(),
})
type CopiedFile = z.infer<typeof CopiedFile>

/** Remembers which of these files, just copied, git does not ignore. */
export async function noteCopied(worktree: string, copied: readonly string[], { signal }: Options): Promise<void> {
  const record = copied.length === 0 ? null : await readGitLink(worktree)
  if (record === null) return
  const { stdout } = await runGit(worktree, ['ls-files', '-z', '--others', '--exclude-standard', '--full-name', ':/'], {
    signal,
  })
  const visible = new Set(splitNul(stdout))
  const paths = copied.filter((path) => visible.has(path))
  if (paths.length === 0) return
  const known = await readList(record)
  if (known.length + paths.length > maxCopied) {
    const count = `${(known.length + paths.length).toLocaleString('en')} files`
    const advice = 'Add them to .gitignore, or name fewer files in copy_files, then try again.'
    throw new WorkspaceError('setup_failed', `copy_files brings ${count} that git does not ignore. ${advice}`)
  }
  const files = await Promise.all(
    paths.map(async (path): Promise<CopiedFile[]> => {
      const content = await contentOf(join(worktree, path))
      return content === null ? [] : [{ path, state: await fileState(join(worktree, path)), content }]
    }),
  )
  await writePlain(join(record, listFile), JSON.stringify([...known, ...files.flat()]))
}

/**
 * Returns the paths of copied files that are as they were copied, and in no commit of the worktree's branch. `git_dir`:
 * the worktree's own git folder; without it, where `.git` leads.
 */
export async function findCopies(
  worktree: string,
  { signal, git_dir }: Options & { readonly git_dir?: string },
): Promise<readonly string[]> {
  const record = git_dir ?? (await readGitLink(worktree))
  const listed = record === null ? [] : await readList(record)
  if (record === null || listed.length === 0) return []
  const same = await Promise.all(listed.map((file) => isAsCopied(worktree, file)))
  const unchanged = listed.filter((_file, index) => same[index]).map(({ path }) => path)
  if (unchanged.length === 0) return []
  const list = ['--git-dir', record, '--literal-pathspecs', 'ls-tree', '-z', '--name-only', '--full-tree', 'HEAD', '--']
  // 128: HEAD has no commit yet.
  const { exit_code, stdout } = await runGit(worktree, [...list, ...unchanged], { signal, accept: [0, 128] })
  const committed = new Set(exit_code === 0 ? splitNul(stdout) : [])
  return unchanged.filter((path) => !committed.has(path))
}

/** Returns patterns that exclude the copies from git commands. */
export const allButCopies = (copies: readonly string[]): readonly string[] =>
  copies.map((path) => `:(exclude,top,literal)${path}`)

/** Takes the copies out of the index of `git`, where someone has staged them. */
export async function unstageCopies(git: Git, copies: readonly string[]): Promise<void> {
  if (copies.length === 0) return
  const input = copies.map((path) => `${path}\0`).join('')
  await git(['update-index', '-z', '--force-remove', '--stdin'], { input })
}

async function readList(record: string): Promise<readonly CopiedFile[]> {
  const text = await readPlain(join(record, listFile))
  return text === null ? [] : (z.array(CopiedFile).safeParse(parseJson(text)).data ?? [])
}

async function isAsCopied(worktree: string, { path, state, content }: CopiedFile): Promise<boolean> {
  const file = join(worktree, path)
  if (content.startsWith('file') && (await fileState(file)) === state) return true
  return (await contentOf(file)) === content
}

/** Returns what git would commit of a file; null where there is none, or no file. */
async function contentOf(file: string): Promise<string | null> {
  try {
    const entry = await lstat(file)
    if (entry.isSymbolicLink()) return `link ${await readlink(file)}`
    if (!entry.isFile()) return null
    const hash = createHash('sha256')
    await pipeline(createReadStream(file), hash)
    return `file ${entry.mode & 0o100 ? 'x' : '-'} ${hash.digest('hex')}`
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}
