import { chmod, readFile, rm, stat, symlink, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ExecutionId } from '../../../src-shared/contract/ids.ts'
import { branch, createFixture, never } from './workspace-fixture.ts'
import type { WorkspaceFixture } from './workspace-fixture.ts'

const execution = ExecutionId.parse('01912d68-783e-7a03-8467-5661c1243ad5')

async function withWorktree(files: Record<string, string | Uint8Array> = {}): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files: { 'README.md': '# Example\n', ...files } })
  await fixture.workspaces.ensure(fixture.request(), never)
  return fixture
}

/** The worktree, with everything in its index. */
async function staged({ repository, path }: WorkspaceFixture): Promise<string> {
  await repository.git(['add', '--all'], { cwd: path })
  return path
}

const lines = (count: number, text = 'line'): string =>
  Array.from({ length: count }, (_, number) => `${text} ${number}\n`).join('')

test('lists tracked and untracked files as uncommitted, but not ignored ones or the lock', async () => {
  await using fixture = await withWorktree({ '.gitignore': '*.log\n', 'gone.txt': 'x\n' })
  await fixture.repository.write({ 'README.md': '# Changed\n', 'new/n.txt': '1\n2\n', 'x.log': 'l\n' }, fixture.path)
  await unlink(join(fixture.path, 'gone.txt'))
  await fixture.workspaces.lock(fixture.path, { execution_id: execution, pid: null })
  const diff = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  const mode = '100644'
  const file = { old_path: null, old_mode: mode, new_mode: mode, binary: false, truncated: false, reason: null }
  const blobOf = (path: string): Promise<string> => fixture.repository.git(['hash-object', join(fixture.path, path)])
  expect(diff).toEqual({
    base: await fixture.repository.git(['rev-parse', 'main']),
    head: await fixture.repository.git(['rev-parse', 'HEAD'], { cwd: fixture.path }),
    tree: expect.stringMatching(/^[0-9a-f]{40}$/),
    files: [
      { ...file, path: 'README.md', status: 'modified', blob: await blobOf('README.md'), additions: 1, deletions: 1 },
      { ...file, path: 'gone.txt', status: 'deleted', new_mode: null, blob: null, additions: 0, deletions: 1 },
      {
        ...file,
        path: 'new/n.txt',
        status: 'added',
        old_mode: null,
        blob: await blobOf('new/n.txt'),
        additions: 2,
        deletions: 0,
      },
    ],
    patch: expect.stringMatching(/^diff --git a\/README.md b\/README.md\nindex [0-9a-f]{40}\.\.[0-9a-f]{40} 100644\n/),
    truncated: false,
  })
  expect(diff.patch).toContain('+++ b/new/n.txt\n@@ -0,0 +1,2 @@\n+1\n+2\n')
})

test('lists for the branch what is committed and what is not, since it left its base', async () => {
  await using fixture = await withWorktree()
  await fixture.repository.commit('Work', { 'done.txt': 'done\n' }, fixture.path)
  await fixture.repository.commit('Meanwhile on main', { 'other.txt': 'other\n' })
  await fixture.repository.write({ 'todo.txt': 'todo\n' }, fixture.path)
  const paths = async (scope: 'branch' | 'uncommitted'): Promise<readonly string[]> =>
    (await fixture.workspaces.diff(fixture.ref(), scope, null, never)).files.map(({ path }) => path)
  expect(await paths('branch')).toEqual(['done.txt', 'todo.txt'])
  expect(await paths('uncommitted')).toEqual(['todo.txt'])
  expect(await fixture.workspaces.diffStat(fixture.ref(), never)).toEqual({ files: 2, additions: 2, deletions: 0 })
})

test('writes neither to the agent’s index nor to the repository', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'a\n' })
  await fixture.repository.write({ 'a.txt': 'staged\n' }, fixture.path)
  await fixture.repository.git(['add', 'a.txt'], { cwd: fixture.path })
  await fixture.repository.write({ 'a.txt': 'later\n', 'big.txt': lines(1000) }, fixture.path)
  const index = await fixture.repository.git(['rev-parse', '--path-format=absolute', '--git-path', 'index'], {
    cwd: fixture.path,
  })
  const state = async (): Promise<unknown> => [
    await readFile(index),
    (await stat(index)).mtimeMs,
    await fixture.repository.git(['count-objects', '-v']),
  ]
  const before = await state()
  await fixture.workspaces.diff(fixture.ref(), 'branch', null, never)
  await fixture.workspaces.diffStat(fixture.ref(), never)
  await fixture.workspaces.status(fixture.ref(), never)
  expect(await state()).toEqual(before)
})

test('sees a change of the same size in the same moment as the last git command', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'one\n' })
  const index = await fixture.repository.git(['rev-parse', '--path-format=absolute', '--git-path', 'index'], {
    cwd: fixture.path,
  })
  // Only times and size show a change to git here, and the index is as old as the file, so git must look inside.
  await fixture.repository.git(['config', 'core.trustctime', 'false'])
  const moment = Math.floor(Date.now() / 1000) - 60
  const file = join(fixture.path, 'a.txt')
  await utimes(file, moment, moment)
  await fixture.repository.git(['update-index', '--refresh'], { cwd: fixture.path })
  await writeFile(file, 'two\n')
  await utimes(file, moment, moment)
  await utimes(index, moment, moment)
  const diff = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  expect(diff.patch).toContain('-one\n+two\n')
})

test('shows renames, modes, links and binary files as git does', async () => {
  await using fixture = await withWorktree({ 'old.txt': lines(50), 'run.sh': 'x\n', 'kind.txt': 'k\n', bin: 'a\0b' })
  const { repository, path } = fixture
  await repository.git(['mv', 'old.txt', 'renamed to.txt'], { cwd: path })
  await chmod(join(path, 'run.sh'), 0o755)
  await unlink(join(path, 'kind.txt'))
  await symlink('README.md', join(path, 'kind.txt'))
  await repository.write({ bin: 'a\0c', 'z-last.txt': 'z\n' }, path)
  const { files, patch } = await fixture.workspaces.diff(fixture.ref(), 'branch', null, never)
  const mode = '100644'
  const blobOf = (path: string): Promise<string> => repository.git(['hash-object', path], { cwd: fixture.path })
  const plain = { old_path: null, old_mode: mode, new_mode: mode, binary: false, truncated: false, reason: null }
  const changed = { ...plain, status: 'modified', additions: 0, deletions: 0 }
  const oldBlob = await repository.git(['rev-parse', 'main:old.txt'])
  const linkBlob = await repository.git(['rev-parse', ':kind.txt'], { cwd: await staged(fixture) })
  expect(files).toEqual([
    { ...changed, path: 'bin', blob: await blobOf('bin'), binary: true, reason: 'binary' },
    { ...changed, path: 'kind.txt', blob: linkBlob, new_mode: '120000', additions: 1, deletions: 1 },
    { ...changed, path: 'renamed to.txt', old_path: 'old.txt', status: 'renamed', blob: oldBlob },
    { ...changed, path: 'run.sh', blob: await blobOf('run.sh'), new_mode: '100755' },
    { ...changed, path: 'z-last.txt', blob: await blobOf('z-last.txt'), status: 'added', old_mode: null, additions: 1 },
  ])
  expect(patch).toContain('Binary files a/bin and b/bin differ\n')
  expect(patch).toContain('rename from old.txt\nrename to renamed to.txt\n')
  expect(patch).toContain('old mode 100644\nnew mode 100755\n')
  const asked = await fixture.workspaces.diff(fixture.ref(), 'branch', 'z-last.txt', never)
  expect(asked.patch).toMatch(/^diff --git a\/z-last.txt b\/z-last.txt\n[^]*\+z\n$/)
})

test("ignores the user's configuration and the repository's drivers in patches", async () => {
  await using fixture = await withWorktree({ '.gitattributes': '*.txt diff=shout\n', 'a.txt': 'a\n' })
  const { repository } = fixture
  for (const [key, value] of [
    ['diff.noprefix', 'true'],
    ['diff.mnemonicPrefix', 'true'],
    ['color.ui', 'always'],
    ['diff.external', 'false'],
    ['diff.shout.textconv', 'tr a-z A-Z <'],
    ['diff.shout.command', 'false'],
    ['diff.renames', 'false'],
    ['core.quotePath', 'true'],
    ['status.showUntrackedFiles', 'no'],
  ] as const) {
    await repository.git(['config', key, value])
  }
  await repository.write({ 'a.txt': 'b\n', 'ü.txt': 'u\n' }, fixture.path)
  const { patch } = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  expect(patch).toMatch(
    /^diff --git a\/a.txt b\/a.txt\nindex .*\n--- a\/a.txt\n\+\+\+ b\/a.txt\n@@ -1 \+1 @@\n-a\n\+b\n/,
  )
  expect(patch).toContain('diff --git a/ü.txt b/ü.txt\n')
  expect((await fixture.workspaces.status(fixture.ref(), never)).dirty).toBe(true)
})

test('reads names that are not UTF-8, or contain line ends and quotes', async () => {
  await using fixture = await withWorktree()
  await writeFile(Buffer.concat([Buffer.from(`${fixture.path}/caf`), Buffer.from([0xe9])]), 'latin\n')
  await fixture.repository.write({ 'two\nlines "q".txt': 'x\n', 'tab\there': 'y\n' }, fixture.path)
  const { files, patch } = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  expect(files.map(({ path }) => path)).toEqual(['caf\ufffd', 'tab\there', 'two\nlines "q".txt'])
  expect(patch.match(/^diff --git /gm)).toHaveLength(3)
  const asked = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', 'caf\ufffd', never)
  expect(asked.patch).toContain('+latin\n')
})

test('lists a file with a patch over 1 MB without it, and shows it on request', async () => {
  await using fixture = await withWorktree()
  const long = lines(200_000, 'diff --git a/x b/x')
  await fixture.repository.write({ 'a.txt': 'a\n', 'big.txt': long, 'c.txt': 'c\n' }, fixture.path)
  const diff = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  expect(diff.files.map(({ path, truncated, additions }) => [path, truncated, additions])).toEqual([
    ['a.txt', false, 1],
    ['big.txt', true, 200_000],
    ['c.txt', false, 1],
  ])
  expect(diff.truncated).toBe(true)
  expect(diff.patch.match(/^diff --git .*$/gm)).toEqual(['diff --git a/a.txt b/a.txt', 'diff --git a/c.txt b/c.txt'])
  const asked = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', 'big.txt', never)
  expect(asked.files).toMatchObject([{ path: 'big.txt', truncated: false }])
  expect(asked.patch.length).toBeGreaterThan(long.length)
  expect(asked.truncated).toBe(false)
})

test('lists files without patches after 8 MB', async () => {
  await using fixture = await withWorktree()
  const names = Array.from({ length: 12 }, (_, number) => `file-${String(number).padStart(2, '0')}.txt`)
  await fixture.repository.write(Object.fromEntries(names.map((name) => [name, 'x'.repeat(900_000)])), fixture.path)
  const diff = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  expect(diff.files.map(({ truncated }) => truncated)).toEqual(names.map((_, number) => number >= 9))
  expect(diff.patch.length).toBeLessThan(8 * 1024 * 1024)
  expect(diff.truncated).toBe(true)
})

test('shows an empty diff for an unchanged file', async () => {
  await using fixture = await withWorktree()
  const diff = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', 'README.md', never)
  expect(diff).toMatchObject({ files: [], patch: '', truncated: false })
})

test('shows files of an unfinished merge as they are in the worktree', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'a\n' })
  await fixture.repository.commit('Mine', { 'a.txt': 'mine\n' }, fixture.path)
  await fixture.repository.commit('Theirs', { 'a.txt': 'theirs\n' })
  await fixture.repository.git(['merge', 'main'], { cwd: fixture.path }).catch(() => undefined)
  const { files, patch } = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  expect(files.map(({ path, status }) => [path, status])).toEqual([['a.txt', 'modified']])
  expect(patch).toContain('+<<<<<<< HEAD\n')
})

test('shows the rest although a repository inside has no commit', async () => {
  await using fixture = await withWorktree()
  await fixture.repository.git(['init', '-q', 'nested'], { cwd: fixture.path })
  await fixture.repository.write({ 'new.txt': 'n\n' }, fixture.path)
  const { files } = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  expect(files.map(({ path }) => path)).toEqual(['new.txt'])
})

test.each(['merge', 'squash', 'rebase'] as const)('shows the work of the branch after a %s', async (strategy) => {
  await using fixture = await withWorktree()
  const start = await fixture.repository.git(['rev-parse', 'main'])
  await fixture.repository.commit('Work', { 'done.txt': 'done\n' }, fixture.path)
  await fixture.workspaces.merge(fixture.mergeRequest({ strategy }), never)
  const ref = fixture.ref({ base_commit: start })
  const diff = await fixture.workspaces.diff({ ...ref, path: null }, 'branch', null, never)
  expect(diff.base).toBe(start)
  expect(diff.files.map(({ path }) => path)).toEqual(['done.txt'])
  expect(await fixture.workspaces.diffStat(ref, never)).toEqual({ files: 1, additions: 1, deletions: 0 })
})

test('compares the branch itself without a worktree, with nothing uncommitted', async () => {
  await using fixture = await withWorktree()
  await fixture.repository.commit('Work', { 'done.txt': 'done\n' }, fixture.path)
  await rm(fixture.path, { recursive: true })
  expect((await fixture.workspaces.diff(fixture.ref(), 'branch', null, never)).files).toHaveLength(1)
  expect((await fixture.workspaces.diff(fixture.ref(), 'uncommitted', null, never)).files).toEqual([])
  await fixture.repository.git(['worktree', 'prune'])
  await fixture.repository.git(['branch', '-D', branch])
  await expect(fixture.workspaces.diff(fixture.ref(), 'branch', null, never)).rejects.toMatchObject({
    code: 'git_failed',
  })
})

test('counts commits and untracked files in the status, but not the lock', async () => {
  await using fixture = await withWorktree()
  await fixture.workspaces.lock(fixture.path, { execution_id: execution, pid: null })
  const head = await fixture.repository.commit('Work', { 'done.txt': 'done\n' }, fixture.path)
  await fixture.repository.commit('One', { 'x.txt': '1\n' })
  await fixture.repository.commit('Two', { 'x.txt': '2\n' })
  expect(await fixture.workspaces.status(fixture.ref(), never)).toEqual({ dirty: false, ahead: 1, behind: 2, head })
  await fixture.repository.write({ 'u.txt': 'u\n' }, fixture.path)
  expect((await fixture.workspaces.status(fixture.ref(), never)).dirty).toBe(true)
})

test('rejects a cancelled diff with its signal’s reason', async () => {
  await using fixture = await withWorktree()
  const reason = new Error('enough')
  const controller = new AbortController()
  const asked = fixture.workspaces.diff(fixture.ref(), 'branch', null, { signal: controller.signal })
  controller.abort(reason)
  await expect(asked).rejects.toBe(reason)
})

test('ignores white space on request, and distinguishes changes since a commit', async () => {
  await using fixture = await withWorktree({ 'both.txt': 'one\ntwo\n', 'space.txt': 'a b\n' })
  await fixture.repository.commit('First', { 'both.txt': '  one\nTWO\n', 'space.txt': 'a  b\n' }, fixture.path)
  const since = await fixture.repository.git(['rev-parse', 'HEAD'], { cwd: fixture.path })
  await fixture.repository.write({ 'later.txt': 'later\n' }, fixture.path)
  const read = (wishes: object) => fixture.workspaces.diff(fixture.ref(), 'branch', null, { ...never, ...wishes })
  const quiet = await read({ ignore_whitespace: true })
  expect(quiet.files.map(({ path }) => path)).toEqual(['both.txt', 'later.txt'])
  expect(quiet.patch).toContain('-two\n+TWO')
  expect(quiet.patch).not.toContain('-one')
  expect((await read({})).files).toHaveLength(3)
  const after = await read({ since })
  expect({ base: after.base, paths: after.files.map(({ path }) => path) }).toEqual({
    base: since,
    paths: ['later.txt'],
  })
  expect((await read({ since: '1'.repeat(40) })).files).toHaveLength(3)
})
