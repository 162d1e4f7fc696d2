import { execFile } from 'node:child_process'
import { chmod, rename, rm, rmdir, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setInterval } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { watchHeld } from '../../helpers/held-memory.ts'
import { createFixture, never } from './workspace-fixture.ts'
import type { WorkspaceFixture } from './workspace-fixture.ts'

const execute = promisify(execFile)

async function withWorktree(files: Record<string, string | Uint8Array> = {}): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files: { 'README.md': '# Example\n', ...files } })
  await fixture.workspaces.ensure(fixture.request(), never)
  return fixture
}

const lines = (count: number, text = 'line'): string =>
  Array.from({ length: count }, (_, number) => `${text} ${number}\n`).join('')

const uncommitted = (fixture: WorkspaceFixture, path: string | null = null) =>
  fixture.workspaces.diff(fixture.ref(), 'uncommitted', path, never)

test('shows a copy as an added file, even if the configuration detects copies', async () => {
  await using fixture = await withWorktree({ 'a.txt': lines(50) })
  await fixture.repository.git(['config', 'diff.renames', 'copies'])
  await fixture.repository.write({ 'b.txt': lines(50), 'a.txt': lines(51) }, fixture.path)
  const { files } = await uncommitted(fixture)
  expect(files.map(({ path, status, old_path }) => [path, status, old_path])).toEqual([
    ['a.txt', 'modified', null],
    ['b.txt', 'added', null],
  ])
})

test('shows both names of a rename with changes, and finds it by either', async () => {
  await using fixture = await withWorktree({ 'a.txt': lines(50), 'c.txt': 'c\n' })
  await fixture.repository.write({ 'dir/b.txt': `${lines(50)}more\n`, 'c.txt': 'changed\n' }, fixture.path)
  await unlink(join(fixture.path, 'a.txt'))
  const { files } = await uncommitted(fixture)
  expect(files).toMatchObject([
    { path: 'c.txt', status: 'modified' },
    { path: 'dir/b.txt', old_path: 'a.txt', status: 'renamed', additions: 1, deletions: 0 },
  ])
  for (const path of ['a.txt', 'dir/b.txt']) {
    const asked = await uncommitted(fixture, path)
    expect(asked.files).toEqual([files[1]])
    expect(asked.patch).toMatch(/^diff --git a\/a.txt b\/dir\/b.txt\nsimilarity index [^]*\+more\n$/)
  }
})

test('shows empty files without lines', async () => {
  await using fixture = await withWorktree({ 'empty.txt': '', 'filled.txt': '' })
  await unlink(join(fixture.path, 'empty.txt'))
  await fixture.repository.write({ 'filled.txt': 'f\n' }, fixture.path)
  expect((await uncommitted(fixture)).files).toMatchObject([
    { path: 'empty.txt', status: 'deleted', additions: 0, deletions: 0, reason: null, blob: null },
    { path: 'filled.txt', status: 'modified', additions: 1, deletions: 0, reason: null },
  ])
  await fixture.repository.write({ 'empty.txt': '', 'new.txt': '' }, fixture.path)
  const { files, patch } = await uncommitted(fixture, 'new.txt')
  expect(files).toMatchObject([{ status: 'added', additions: 0, deletions: 0, reason: null, old_mode: null }])
  expect(patch).toMatch(/^diff --git a\/new.txt b\/new.txt\nnew file mode 100644\nindex 0+\.\.[0-9a-f]+\n$/)
})

test('shows line ends as they are, and normalized where the attributes say so', async () => {
  await using fixture = await withWorktree({
    '.gitattributes': '*.auto text eol=lf\n',
    'a.txt': 'one\ntwo\n',
    'b.auto': 'one\ntwo\n',
    'c.txt': 'no end',
  })
  await fixture.repository.write(
    { 'a.txt': 'one\r\ntwo\n', 'b.auto': 'one\r\ntwo\r\n', 'c.txt': 'no end\n' },
    fixture.path,
  )
  const { files, patch } = await uncommitted(fixture)
  expect(files.map(({ path, additions, deletions }) => [path, additions, deletions])).toEqual([
    ['a.txt', 1, 1],
    ['c.txt', 1, 1],
  ])
  expect(patch).toContain('-one\n+one\r\n two\n')
  expect(patch).toContain('-no end\n\\ No newline at end of file\n+no end\n')
})

test('takes lines that look like patch headers for lines', async () => {
  await using fixture = await withWorktree({ 'a.txt': '-- a/x\n@@ -1 +1 @@\n' })
  const text = '++ b/x\n\ndiff --git a/x b/x\n@@ -1,9 +1,9 @@\nindex 123..456 100644\nBinary files a/x and b/x differ\n'
  await fixture.repository.write({ 'a.txt': text, 'b.txt': 'b\n' }, fixture.path)
  const { files, patch } = await uncommitted(fixture)
  expect(files).toMatchObject([
    { path: 'a.txt', additions: 6, deletions: 2, binary: false },
    { path: 'b.txt', additions: 1, deletions: 0 },
  ])
  expect(patch).toContain('--- a/x\n')
  expect(patch).toContain('+++ b/x\n')
})

test('keeps the mark of blank lines, whatever the configuration says', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'a\n\nb\n' })
  await fixture.repository.git(['config', 'diff.suppressBlankEmpty', 'true'])
  await fixture.repository.write({ 'a.txt': 'a\n\nc\n' }, fixture.path)
  expect((await uncommitted(fixture)).patch).toContain(' a\n \n-b\n+c\n')
})

test('reads content that is not UTF-8', async () => {
  await using fixture = await withWorktree({ 'latin.txt': Buffer.from('caf\xe9\n', 'latin1') })
  await fixture.repository.write({ 'latin.txt': Buffer.from('caf\xe8\nmore\n', 'latin1') }, fixture.path)
  const { files, patch } = await uncommitted(fixture)
  expect(files).toMatchObject([{ path: 'latin.txt', binary: false, additions: 2, deletions: 1 }])
  expect(patch).toContain('-caf\ufffd\n+caf\ufffd\n+more\n')
})

test.each([
  ['a space and an end ', 'x'],
  ['"quotes" and \\ backslashes', 'x'],
  ['two\nlines\r\ttab', 'x'],
  ['a b/c.txt b/d', 'x'],
  ['-rf', 'x'],
  [':(exclude)all', 'x'],
  ['*.txt', 'x'],
  ['emoji 🌳 and ü', 'x'],
])('finds a file named %j by its name', async (name, text) => {
  await using fixture = await withWorktree({ 'first.txt': '1\n' })
  await fixture.repository.write({ [name]: `${text}\n`, 'first.txt': '2\n', 'zz.txt': 'z\n' }, fixture.path)
  const { files } = await uncommitted(fixture)
  expect(files.map(({ path }) => path).sort()).toEqual([name, 'first.txt', 'zz.txt'].sort())
  expect(files.every(({ blob, reason }) => blob !== null && reason === null)).toBe(true)
  const asked = await uncommitted(fixture, name)
  expect(asked.files).toMatchObject([{ path: name, additions: 1 }])
  expect(asked.patch).toMatch(/^diff --git [^]*\n@@ -0,0 \+1 @@\n\+x\n$/)
})

test('shows where a symlink leads, not what is there', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'secret\n' })
  await symlink('a.txt', join(fixture.path, 'link'))
  await symlink('/nowhere/at all', join(fixture.path, 'dangling'))
  const { files, patch } = await uncommitted(fixture)
  expect(files).toMatchObject([
    { path: 'dangling', status: 'added', new_mode: '120000', additions: 1 },
    { path: 'link', status: 'added', new_mode: '120000', additions: 1 },
  ])
  expect(patch).toContain('+/nowhere/at all\n\\ No newline at end of file\n')
  expect(patch).not.toContain('secret')
})

test('shows the commits of a submodule, and the files of a repository inside', async () => {
  await using fixture = await withWorktree()
  await using library = await createTestRepository()
  const { repository, path } = fixture
  const allow = ['-c', 'protocol.file.allow=always']
  await repository.git([...allow, 'submodule', 'add', '--quiet', library.path, 'lib'], { cwd: path })
  await repository.git(['commit', '--quiet', '-m', 'Add the library'], { cwd: path })
  const before = await repository.git(['rev-parse', 'HEAD'], { cwd: join(path, 'lib') })
  const after = await repository.commit('Ahead', { 'l.txt': 'l\n' }, join(path, 'lib'))
  await repository.write({ 'lib/untracked.txt': 'u\n' }, path)
  await repository.git(['init', '--quiet', 'nested'], { cwd: path })
  await repository.commit('Nested', { 'n.txt': 'n\n' }, join(path, 'nested'))
  const { files, patch } = await uncommitted(fixture)
  expect(files).toMatchObject([
    { path: 'lib', old_mode: '160000', new_mode: '160000', blob: after, additions: 1, deletions: 1 },
    { path: 'nested/n.txt', status: 'added', new_mode: '100644', additions: 1 },
  ])
  expect(patch).toContain(`-Subproject commit ${before}\n+Subproject commit ${after}\n`)
  expect(patch).not.toContain('dirty')
})

test('shows two changes if a file becomes a folder, or the reverse', async () => {
  await using fixture = await withWorktree({ thing: 'file\n', 'folder/inside.txt': lines(3) })
  await unlink(join(fixture.path, 'thing'))
  await rm(join(fixture.path, 'folder'), { recursive: true })
  await fixture.repository.write({ 'thing/inside.txt': 'other\n', folder: 'now a file\n' }, fixture.path)
  const { files } = await uncommitted(fixture)
  expect(files.map(({ path, status }) => `${status} ${path}`).sort()).toEqual([
    'added folder',
    'added thing/inside.txt',
    'deleted folder/inside.txt',
    'deleted thing',
  ])
})

test('shows no deletion for a file that was only removed from the index', async () => {
  await using fixture = await withWorktree({ 'kept.txt': 'k\n', 'changed.txt': 'c\n' })
  await fixture.repository.git(['rm', '--cached', '--quiet', 'kept.txt', 'changed.txt'], { cwd: fixture.path })
  await fixture.repository.write({ 'changed.txt': 'd\n' }, fixture.path)
  const { files } = await uncommitted(fixture)
  expect(files).toMatchObject([{ path: 'changed.txt', status: 'modified', additions: 1, deletions: 1 }])
})

test('leaves out a huge single line by its size, without filling the memory', async () => {
  await using fixture = await withWorktree()
  await fixture.repository.write({ 'a.txt': 'a\n', 'z.txt': 'z\n' }, fixture.path)
  // Created elsewhere, because here it would count as held memory as long as anything refers to it.
  await execute('sh', ['-c', 'head -c 94371840 /dev/zero | tr "\\0" x > huge.json'], { cwd: fixture.path })
  const { result, isOver } = await watchHeld(32 * 1024 * 1024, () => uncommitted(fixture))
  const { files, patch } = result
  expect(files).toMatchObject([
    { path: 'a.txt', truncated: false, reason: null },
    { path: 'huge.json', truncated: true, reason: 'too_large', additions: 1 },
    { path: 'z.txt', truncated: false, reason: null },
  ])
  expect(patch.length).toBeLessThan(1_000)
  expect(isOver).toBe(false)
  expect(await uncommitted(fixture, 'huge.json')).toMatchObject({ truncated: true, patch: '' })
})

test('counts the rest correctly beyond the total, and names the budget as reason', async () => {
  await using fixture = await withWorktree()
  const names = Array.from({ length: 12 }, (_, number) => `file-${String(number).padStart(2, '0')}.txt`)
  const text = lines(90, 'x'.repeat(9_990))
  await fixture.repository.write(Object.fromEntries(names.map((name) => [name, text])), fixture.path)
  const { files } = await uncommitted(fixture)
  expect(files.map(({ reason }) => reason)).toEqual(names.map((_, number) => (number < 9 ? null : 'budget')))
  expect(files.every(({ additions, blob }) => additions === 90 && blob !== null)).toBe(true)
  expect(await uncommitted(fixture, 'file-11.txt')).toMatchObject({ truncated: false, files: [{ reason: null }] })
})

test('survives files that come and go while git reads', async () => {
  await using fixture = await withWorktree(
    Object.fromEntries(Array.from({ length: 200 }, (_, number) => [`f${number}.txt`, `${number}\n`])),
  )
  const { path } = fixture
  const stop = new AbortController()
  const churn = (async () => {
    // Some hundred changes a second, as programs write and clean up.
    let round = 0
    for await (const _ of setInterval(4, null, { signal: stop.signal })) {
      const [old, fresh] = [join(path, `f${round % 200}.txt`), join(path, `new${round % 50}.txt`)]
      round += 1
      await writeFile(`${fresh}~`, 'n\n')
      await Promise.all([rename(`${fresh}~`, fresh), rm(old, { force: true })])
      await Promise.all([writeFile(old, `${round}\n`), rm(join(path, `new${(round + 25) % 50}.txt`), { force: true })])
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  try {
    for (let round = 0; round < 8; round += 1) {
      const { files, patch } = await uncommitted(fixture)
      expect(patch.match(/^diff --git /gm)?.length ?? 0).toBe(files.length)
    }
  } finally {
    stop.abort()
    await churn
  }
})

test('shows the other files when one cannot be read', async (context) => {
  // Root can read everything, so this can't be tested as root.
  if (process.getuid?.() === 0) context.skip()
  await using fixture = await withWorktree({ 'a.txt': 'a\n' })
  await fixture.repository.write({ 'a.txt': 'b\n', 'z.txt': 'z\n' }, fixture.path)
  await chmod(join(fixture.path, 'a.txt'), 0)
  expect((await uncommitted(fixture)).files.map(({ path }) => path)).toContain('z.txt')
})

test('reads a repository with SHA-256 IDs', async () => {
  await using fixture = await createFixture({ files: null })
  const { repository } = fixture
  await rm(join(repository.path, '.git'), { recursive: true })
  await repository.git(['init', '--quiet', '--initial-branch=main', '--object-format=sha256'])
  await repository.commit('First', { 'a.txt': 'a\n' })
  await fixture.workspaces.ensure(fixture.request(), never)
  await repository.write({ 'a.txt': 'b\n', 'new.txt': 'n\n' }, fixture.path)
  const { files } = await uncommitted(fixture)
  expect(files).toMatchObject([
    { path: 'a.txt', additions: 1, deletions: 1 },
    { path: 'new.txt', status: 'added', additions: 1 },
  ])
  expect(files[1]?.blob).toHaveLength(64)
})

test('shows nothing for an empty folder, and deletions for an emptied worktree', async () => {
  await using fixture = await withWorktree({ 'd/a.txt': 'a\n' })
  await rm(join(fixture.path, 'd', 'a.txt'))
  await rmdir(join(fixture.path, 'd'))
  await rm(join(fixture.path, 'README.md'))
  await execute('mkdir', ['-p', join(fixture.path, 'empty', 'inside')])
  const { files } = await uncommitted(fixture)
  expect(files.map(({ path, status }) => [path, status])).toEqual([
    ['README.md', 'deleted'],
    ['d/a.txt', 'deleted'],
  ])
  expect(await fixture.workspaces.diffStat(fixture.ref(), never)).toEqual({ files: 2, additions: 0, deletions: 2 })
})
