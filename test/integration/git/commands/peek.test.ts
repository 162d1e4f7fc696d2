import { appendFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  peekBranch,
  peekCommonDir,
  peekHead,
  peekNoRefs,
  peekTips,
  peekWorktrees,
} from '../../../../src-main/git/commands/peek.ts'
import { commonDir, listWorktrees } from '../../../../src-main/git/commands/worktree.ts'
import { createTestRepository, type TestRepository } from '../../../helpers/git-repository.ts'

const { signal } = new AbortController()

async function withWorktree() {
  const repository = await createTestRepository()
  const path = join(repository.beside, 'tree')
  await repository.git(['worktree', 'add', '--quiet', '-b', 'svc/one', path])
  return { repository, path, [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose]() }
}

const tipOf = (repository: TestRepository, ref: string) => repository.git(['rev-parse', ref])

test('finds the common folder that git names, also through a symlink', async () => {
  await using repository = await createTestRepository()
  const link = join(repository.beside, 'link')
  await symlink(repository.path, link)
  for (const path of [repository.path, link]) expect(await peekCommonDir(path)).toBe(await commonDir(path, { signal }))
})

test('leaves the common folder of a worktree or bare repository to git', async () => {
  await using tree = await withWorktree()
  const bare = join(tree.repository.beside, 'bare.git')
  await tree.repository.git(['clone', '--quiet', '--bare', tree.repository.path, bare])
  expect(await peekCommonDir(tree.path)).toBeNull()
  expect(await peekCommonDir(bare)).toBeNull()
})

test('reads branch and commit of a worktree like git, after every commit', async () => {
  await using tree = await withWorktree()
  const { repository, path } = tree
  expect(await peekHead(path)).toEqual({ branch: 'svc/one', commit: await tipOf(repository, 'main') })
  const commit = await repository.commit('More', { 'more.txt': 'x\n' }, path)
  expect(await peekHead(path)).toEqual({ branch: 'svc/one', commit })
  expect(await peekBranch(path, 'main')).toBe(await tipOf(repository, 'main'))
  expect(await peekBranch(path, 'svc/one')).toBe(commit)
})

test('reads packed branches, and those that exist of several', async () => {
  await using tree = await withWorktree()
  const { repository, path } = tree
  const common = join(repository.path, '.git')
  await repository.git(['tag', '-a', '-m', 'A tag', 'v1'])
  await repository.git(['pack-refs', '--all'])
  const main = await tipOf(repository, 'main')
  expect(await peekHead(path)).toEqual({ branch: 'svc/one', commit: main })
  expect(await peekBranch(path, 'main')).toBe(main)
  // Loose refs come first: what is packed under the same name is older.
  const commit = await repository.commit('More', { 'more.txt': 'x\n' }, path)
  const both = new Map([
    ['svc/one', commit],
    ['main', main],
  ])
  expect(await peekTips(common, ['svc/one', 'nothing', 'main', 'on', 'svc'])).toEqual(both)
  expect(await peekTips(common, ['nothing', 'v1'])).toBeNull()
  expect(await peekTips(common, ['main', '../tags/v1'])).toBeNull()
  await repository.git(['symbolic-ref', 'refs/heads/alias', 'refs/heads/main'])
  expect(await peekTips(common, ['main', 'alias'])).toBeNull()
})

test('leaves a long list of packed branches to git', async () => {
  await using tree = await withWorktree()
  const { repository, path } = tree
  const common = join(repository.path, '.git')
  await repository.git(['pack-refs', '--all'])
  await appendFile(join(common, 'packed-refs'), '# filler\n'.repeat(120_000))
  expect(await peekBranch(path, 'main')).toBeNull()
  expect(await peekTips(common, ['main'])).toBeNull()
  expect(await peekNoRefs(common, 'refs/replace/')).toBe(false)
})

test('sees refs that replace objects, loose or packed', async () => {
  await using tree = await withWorktree()
  const { repository, path } = tree
  const common = join(repository.path, '.git')
  expect(await peekNoRefs(common, 'refs/replace/')).toBe(true)
  await repository.git(['replace', await repository.commit('More', { 'more.txt': 'x\n' }, path), 'main'])
  expect(await peekNoRefs(common, 'refs/replace/')).toBe(false)
  await repository.git(['pack-refs', '--all', '--prune'])
  await rm(join(common, 'refs', 'replace'), { recursive: true, force: true })
  expect(await peekNoRefs(common, 'refs/replace/')).toBe(false)
})

test('leaves a detached HEAD, main checkout or damaged ref to git', async () => {
  await using tree = await withWorktree()
  const { repository, path } = tree
  await repository.git(['switch', '--quiet', '--detach'], { cwd: path })
  expect(await peekHead(path)).toBeNull()
  expect(await peekHead(repository.path)).toBeNull()
  await repository.commit('Loose again', {})
  const file = join(repository.path, '.git', 'refs', 'heads', 'main')
  expect((await readFile(file, 'utf8')).trim()).toBe(await peekBranch(path, 'main'))
  await writeFile(file, 'ref: refs/heads/other\n')
  expect(await peekBranch(path, 'main')).toBeNull()
})

test('finds no branch in a folder of branches or a name that leads elsewhere', async () => {
  await using tree = await withWorktree()
  for (const name of ['svc', '../tags/v1', '.', 'a//b', 'nothing']) expect(await peekBranch(tree.path, name)).toBeNull()
})

/** What `git worktree list` says of the path and branch of each. */
async function listedByGit(repository: TestRepository) {
  const records = (await repository.git(['worktree', 'list', '--porcelain'])).split('\n\n')
  return records.map((record) => ({
    path: /^worktree (.+)$/m.exec(record)?.[1] ?? '',
    branch: /^branch refs\/heads\/(.+)$/m.exec(record)?.[1] ?? null,
  }))
}

test('lists the worktrees that git lists, on a branch, detached, unborn, moved or gone', async () => {
  await using tree = await withWorktree()
  const { repository } = tree
  const add = (name: string, ...options: string[]) =>
    repository.git(['worktree', 'add', '--quiet', ...options, join(repository.beside, name)])
  await add('detached', '--detach')
  await add('relative', '--relative-paths', '-b', 'relative').catch(() => undefined)
  await add('gone', '-b', 'gone')
  await rm(join(repository.beside, 'gone'), { recursive: true })
  await add('moved', '-b', 'moved')
  await repository.git(['worktree', 'move', join(repository.beside, 'moved'), join(repository.beside, 'elsewhere')])
  await repository.git(['switch', '--quiet', '--orphan', 'unborn'])
  const found = await peekWorktrees(join(repository.path, '.git'))
  expect(found?.[0]).toEqual({ path: repository.path, branch: 'unborn' })
  const byPath = (all: readonly { readonly path: string }[]) => all.toSorted((a, b) => a.path.localeCompare(b.path))
  expect(byPath(found ?? [])).toEqual(byPath(await listedByGit(repository)))
})

test('leaves the list to git where a repository is bare or has its files elsewhere', async () => {
  await using tree = await withWorktree()
  const { repository, path } = tree
  const elsewhere = join(repository.beside, 'elsewhere')
  await mkdir(elsewhere)
  const listed = () => listWorktrees(repository.path, { signal })
  expect(await listed()).toEqual([
    { path: repository.path, branch: 'main', bare: false },
    { path, branch: 'svc/one', bare: false },
  ])
  await repository.git(['config', 'core.bare', 'true'])
  expect((await listed())[0]).toMatchObject({ bare: true })
  await repository.git(['config', 'core.bare', 'false'])
  await repository.git(['config', 'core.worktree', elsewhere])
  expect(await listed()).toEqual(
    (await listedByGit(repository)).map(({ path: place, branch }) => ({ path: place, branch, bare: false })),
  )
})
