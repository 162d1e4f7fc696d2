import { existsSync } from 'node:fs'
import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { branch, createFixture, never, type WorkspaceFixture } from './workspace-fixture.ts'
import { wholeLife } from './whole-life.ts'

const files = { 'a/one.txt': 'one\n', 'b/two.txt': 'two\n', 'top.txt': 'top\n' }

test('has tasks in a shallow clone, which stays shallow', async () => {
  await using fixture = await cloned(['--depth=1'])
  expect(await wholeLife(fixture)).toEqual([...Object.keys(files), 'task work.txt'].toSorted())
  expect(await fixture.repository.git(['rev-parse', '--is-shallow-repository'])).toBe('true')
})

test('fetches what a partial clone lacks at the checkout, and nothing later', async () => {
  await using fixture = await cloned(['--filter=blob:none'])
  expect(await missing(fixture)).toHaveLength(3)
  const made = await fixture.workspaces.ensure(fixture.request(), never)
  if (made.kind !== 'ready') throw new Error('No worktree was made.')
  expect(await readFile(join(fixture.path, 'b/two.txt'), 'utf8')).toBe('two\n')
  expect(await missing(fixture)).toEqual([])
  await rename(originOf(fixture), `${originOf(fixture)}-away`)
  await rm(fixture.path, { recursive: true })
  expect(await fixture.workspaces.ensure(fixture.request({ expect: 'existing' }), never)).toMatchObject({
    how: 'recovered',
  })
  expect(await wholeLife(fixture)).toContain('task work.txt')
})

test('does not fetch what only older commits of a partial clone have', async () => {
  await using fixture = await cloned(['--filter=blob:none'], async ({ repository }) => {
    await repository.commit('Newer', { 'top.txt': 'newer\n', 'b/two.txt': 'newer\n' })
  })
  await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.repository.git(['remote', 'set-url', 'origin', join(fixture.repository.beside, 'nowhere')])
  expect(await wholeLife(fixture)).toContain('task work.txt')
  expect(await missing(fixture, ['--all'])).toHaveLength(2)
})

test('reports an unreachable remote of a partial clone, and leaves nothing behind', async () => {
  await using fixture = await cloned(['--filter=blob:none'])
  await rename(originOf(fixture), `${originOf(fixture)}-away`)
  await expect(fixture.workspaces.ensure(fixture.request(), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringMatching(/partial clone: 3 of the objects .* the remote origin .*then try again/s),
  })
  expect(existsSync(fixture.path)).toBe(false)
  expect(await fixture.repository.git(['branch', '--list', branch])).toBe('')
  await rename(`${originOf(fixture)}-away`, originOf(fixture))
  expect(await fixture.workspaces.ensure(fixture.request(), never)).toMatchObject({ how: 'created' })
})

test.each(['--cone', '--no-cone'])(
  'keeps a sparse checkout (%s) in new worktrees, with its other files',
  async (mode) => {
    await using fixture = await createFixture({ files })
    const { git } = fixture.repository
    await git(['sparse-checkout', 'set', mode, mode === '--cone' ? 'a' : '/a/'])
    await fixture.workspaces.ensure(fixture.request(), never)
    const there = async (): Promise<string[]> => (await readdir(fixture.path)).filter((name) => name !== '.git')
    expect(await there()).toEqual(mode === '--cone' ? ['a', 'top.txt'] : ['a'])
    expect(await wholeLife(fixture)).toEqual([...Object.keys(files), 'task work.txt'].toSorted())
  },
)

test('does not take another linked worktree’s sparse checkout for the project’s', async () => {
  await using fixture = await createFixture({ files })
  const { git, beside } = fixture.repository
  await git(['worktree', 'add', '--quiet', '-b', 'side', join(beside, 'side')])
  await git(['sparse-checkout', 'set', '--cone', 'a'], { cwd: join(beside, 'side') })
  await fixture.workspaces.ensure(fixture.request(), never)
  expect((await readdir(fixture.path)).toSorted()).toEqual(['.git', 'a', 'b', 'top.txt'])
})

/** The pointer as git-lfs writes it, for `big content\n`. */
const pointer =
  'version https://git-lfs.github.com/spec/v1\n' +
  'oid sha256:4cac19622fc3ada9c0fdeadb33f88f367b541f38b89102a3f1261ac81fd5bcb5\nsize 12\n'

test('keeps pointers of large files where no filter is installed', async () => {
  await using fixture = await withPointer()
  await wholeLife(fixture)
  expect(await fixture.repository.git(['cat-file', 'blob', 'main:big.bin'])).toBe(pointer.trimEnd())
})

test('fills large files in by an installed filter, and commits only pointers', async () => {
  await using fixture = await withPointer()
  await installFilter(fixture)
  await fixture.workspaces.ensure(fixture.request(), never)
  expect(await readFile(join(fixture.path, 'big.bin'), 'utf8')).toBe('big content\n')
  await fixture.repository.write({ 'other.bin': 'big content\n' }, fixture.path)
  await fixture.workspaces.commitAll(fixture.path, 'Another large file\n', never)
  expect(await fixture.repository.git(['show', `${branch}:other.bin`])).toBe(pointer.trimEnd())
  expect(await fixture.workspaces.merge(fixture.mergeRequest(), never)).toMatchObject({ kind: 'merged' })
  expect(await readFile(join(fixture.repository.path, 'other.bin'), 'utf8')).toBe('big content\n')
  for (const name of ['big.bin', 'other.bin']) {
    expect(await fixture.repository.git(['show', `main:${name}`])).toBe(pointer.trimEnd())
  }
})

test('passes GIT_LFS_SKIP_SMUDGE to the filter, so that pointers stay pointers', async () => {
  await using fixture = await withPointer()
  await installFilter(fixture)
  process.env['GIT_LFS_SKIP_SMUDGE'] = '1'
  try {
    await fixture.workspaces.ensure(fixture.request(), never)
  } finally {
    delete process.env['GIT_LFS_SKIP_SMUDGE']
  }
  expect(await readFile(join(fixture.path, 'big.bin'), 'utf8')).toBe(pointer)
})

/** A fixture whose repository is a clone of another beside it. */
async function cloned(
  options: readonly string[],
  prepare: (fixture: WorkspaceFixture) => Promise<void> = () => Promise.resolve(),
): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files })
  await prepare(fixture)
  const { git, path } = fixture.repository
  await git(['config', 'uploadpack.allowFilter', 'true'])
  await git(['config', 'uploadpack.allowAnySHA1InWant', 'true'])
  await rename(path, originOf(fixture))
  const url = `file://${originOf(fixture)}`
  await git(['clone', '--quiet', '--no-checkout', ...options, url, path], { cwd: fixture.repository.beside })
  return fixture
}

const originOf = (fixture: WorkspaceFixture): string => join(fixture.repository.beside, 'origin')

async function missing({ repository }: WorkspaceFixture, of: readonly string[] = ['HEAD']): Promise<readonly string[]> {
  const out = await repository.git(['rev-list', '--objects', '--missing=print', ...of])
  return out.split('\n').filter((line) => line.startsWith('?'))
}

async function withPointer(): Promise<WorkspaceFixture> {
  const attributes = '*.bin filter=lfs diff=lfs merge=lfs -text\n'
  return await createFixture({ files: { '.gitattributes': attributes, 'big.bin': pointer } })
}

/** Imitates git-lfs for the one large file, as far as git sees it. */
async function installFilter({ repository }: WorkspaceFixture): Promise<void> {
  const kept = join(repository.beside, 'pointer')
  await writeFile(kept, pointer)
  const smudge = `if [ -n "$GIT_LFS_SKIP_SMUDGE" ]; then cat; else cat > /dev/null; echo big content; fi`
  await repository.git(['config', 'filter.lfs.smudge', smudge])
  await repository.git(['config', 'filter.lfs.clean', `cat > /dev/null; cat '${kept}'`])
  await repository.git(['config', 'filter.lfs.required', 'true'])
}
