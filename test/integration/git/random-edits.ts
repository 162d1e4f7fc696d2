import { chmod, lstat, mkdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import type { TestRepository } from '../../helpers/git-repository.ts'

/** One edit of a person in a worktree. */
export type Edit =
  | { readonly kind: 'write'; readonly path: string; readonly content: string; readonly binary: boolean }
  | { readonly kind: 'delete' | 'stage' | 'untrack' | 'assume' | 'mode'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'submodule'; readonly content: string; readonly stage: boolean }
  | { readonly kind: 'commit' }

/** Some are files of the first commit, some folders of others; `.log` is ignored unless added by force. */
const paths = ['a.txt', 'b.txt', 'dir/c.txt', 'dir', 'a.txt/inner', 'new/deep/er.txt', 'ü 🌱 "q".txt', '-rf', 'x.log']
const path = fc.constantFrom(...paths)
const content = fc.string({ maxLength: 20 })

/** Random edits of a worktree of `startFiles`, in order. */
export const someEdits: fc.Arbitrary<readonly Edit[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const), path, content, binary: fc.boolean() }) },
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constantFrom('delete', 'stage', 'untrack', 'assume', 'mode'), path }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('link' as const),
        path,
        target: fc.constantFrom('a.txt', '../..', 'nowhere', '/etc/hostname'),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('rename' as const), path, to: path }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('submodule' as const), content, stage: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'commit' as const }) },
  ),
  { minLength: 1, maxLength: 10 },
)

export const startFiles = { '.gitignore': '*.log\n', 'a.txt': 'a\n', 'b.txt': 'b\n', 'dir/c.txt': 'c\n' }

/** Makes an edit as far as possible: a missing file is not deleted. */
export async function doEdit(repository: TestRepository, worktree: string, edit: Edit): Promise<void> {
  const git = (...args: string[]) => repository.git(args, { cwd: worktree }).catch(() => '')
  if (edit.kind === 'commit') return void (await git('commit', '-qm', 'Some of it'))
  if (edit.kind === 'submodule') return await editSubmodule(repository, worktree, edit)
  const file = join(worktree, edit.path)
  const literal = `:(literal)${edit.path}`
  switch (edit.kind) {
    case 'write':
      await makeRoom(worktree, edit.path)
      return await writeFile(file, edit.binary ? Buffer.from([0, 255, 10, ...Buffer.from(edit.content)]) : edit.content)
    case 'link':
      await makeRoom(worktree, edit.path)
      return await symlink(edit.target, file)
    case 'delete':
      return (await entryAt(file)) === null ? undefined : await rm(file, { recursive: true, force: true })
    case 'rename': {
      if ((await entryAt(file)) === null || `${edit.to}/`.startsWith(`${edit.path}/`)) return
      const aside = `${worktree}.aside`
      await rename(file, aside)
      await makeRoom(worktree, edit.to)
      return await rename(aside, join(worktree, edit.to))
    }
    case 'mode': {
      const entry = await entryAt(file)
      return entry?.isFile() ? await chmod(file, entry.mode & 0o100 ? 0o644 : 0o755) : undefined
    }
    case 'stage':
      return void (await git('add', '-f', '-A', '--', literal))
    case 'untrack':
      return void (await git('rm', '-r', '-q', '--cached', '--', literal))
    case 'assume':
      return void (await git('update-index', '--assume-unchanged', '--', edit.path))
  }
}

export interface FileState {
  readonly kind: 'file' | 'executable' | 'link'
  readonly content: string
}

/** The files to keep of a worktree: tracked, in HEAD or not ignored, without submodules. */
export async function readWork(repository: TestRepository, worktree: string): Promise<Record<string, FileState>> {
  const listed = await Promise.all([
    repository.git(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: worktree }),
    repository.git(['ls-tree', '-r', '-z', '--name-only', 'HEAD'], { cwd: worktree }),
  ])
  const names = new Set(listed.flatMap((text) => text.split('\0')).filter((name) => name !== '' && name !== 'lib'))
  return await readFiles(worktree, [...names].toSorted())
}

/** Filters paths to files and links, none behind a link. */
export async function readFiles(worktree: string, names: readonly string[]): Promise<Record<string, FileState>> {
  const found: Record<string, FileState> = {}
  for (const name of names) {
    const state = await stateAt(worktree, name)
    if (state !== null) found[name] = state
  }
  return found
}

/** The files of a commit in the same form. */
export async function readTree(repository: TestRepository, commit: string): Promise<Record<string, FileState>> {
  const found: Record<string, FileState> = {}
  for (const line of (await repository.git(['ls-tree', '-r', '-z', commit])).split('\0').filter(Boolean)) {
    const [mode = '', , id = ''] = line.slice(0, line.indexOf('\t')).split(' ')
    if (mode === '160000') continue
    const kind = mode === '120000' ? 'link' : mode === '100755' ? 'executable' : 'file'
    const encoded = await repository.git(['-c', `alias.b64=!git cat-file blob ${id} | base64 -w0`, 'b64'])
    found[line.slice(line.indexOf('\t') + 1)] = { kind, content: encoded }
  }
  return found
}

async function stateAt(worktree: string, name: string): Promise<FileState | null> {
  for (let parent = dirname(name); parent !== '.'; parent = dirname(parent)) {
    if ((await entryAt(join(worktree, parent)))?.isDirectory() !== true) return null
  }
  const file = join(worktree, name)
  const entry = await entryAt(file)
  if (entry?.isSymbolicLink()) {
    return { kind: 'link', content: (await readlink(file, 'buffer')).toString('base64') }
  }
  if (!entry?.isFile()) return null
  return { kind: entry.mode & 0o100 ? 'executable' : 'file', content: (await readFile(file)).toString('base64') }
}

async function editSubmodule(
  repository: TestRepository,
  worktree: string,
  { content: text, stage }: Extract<Edit, { kind: 'submodule' }>,
): Promise<void> {
  const inner = join(worktree, 'lib')
  await writeFile(join(inner, stage ? 'staged.txt' : 'new.txt'), text)
  if (!stage) return
  await repository.git(['add', '.'], { cwd: inner })
  await writeFile(join(inner, 'staged.txt'), `${text} and then\n`)
}

/** Removes everything in the way of a file of that name. */
async function makeRoom(worktree: string, name: string): Promise<void> {
  const parents: string[] = []
  for (let parent = dirname(name); parent !== '.'; parent = dirname(parent)) parents.unshift(parent)
  for (const parent of parents) {
    const entry = await entryAt(join(worktree, parent))
    if (entry !== null && !entry.isDirectory()) await rm(join(worktree, parent))
    await mkdir(join(worktree, parent), { recursive: true })
  }
  await rm(join(worktree, name), { recursive: true, force: true })
}

async function entryAt(file: string) {
  return await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(error.code ?? '')) return null
    throw error
  })
}
