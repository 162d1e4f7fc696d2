import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removal, removeAndReturn, rescues, restore } from './rescue-fixture.ts'
import { canMount, smallDisk } from './small-disk.ts'
import { branch, never, taskId, withWork, type WorkspaceFixture } from './workspace-fixture.ts'

/** A file that changes whenever git reads another, like a person who writes while the work is being kept. */
async function restless(fixture: WorkspaceFixture): Promise<void> {
  const { repository, path } = fixture
  await repository.git(['config', 'filter.restless.clean', 'cat; echo more >> busy.txt'])
  await repository.write({ '.gitattributes': 'slow.txt filter=restless\n', 'slow.txt': 's\n', 'busy.txt': 'b\n' }, path)
}

test('refuses a removal if a file changes while it is kept, and loses nothing', async () => {
  await using fixture = await withWork({})
  const { repository, path, workspaces } = fixture
  await restless(fixture)
  await expect(workspaces.remove(removal(fixture), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining('Stop the program that is writing there'),
  })
  const seen = await readFile(join(path, 'busy.txt'), 'utf8')
  expect(seen).toMatch(/^b\n(more\n)+$/)
  expect(await readdir(join(path, '..'))).toEqual([taskId])
  expect(await workspaces.ensure(fixture.request({ expect: 'existing' }), never)).toMatchObject({ how: 'reused' })
  await repository.git(['config', '--unset', 'filter.restless.clean'])
  await removeAndReturn(fixture)
  expect(await restore(fixture, (await rescues(fixture))[0])).toMatchObject({ to: 'worktree' })
  expect(await readFile(join(path, 'busy.txt'), 'utf8')).toBe(seen)
})

test('refuses a whole reset if a file changes while it is kept', async () => {
  await using fixture = await withWork({})
  const { repository, path, workspaces } = fixture
  await restless(fixture)
  await repository.write({ 'a.txt': 'changed\n' }, path)
  await expect(workspaces.resetWorktree(path, taskId, never)).rejects.toMatchObject({ code: 'git_failed' })
  expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('changed\n')
  expect(await readFile(join(path, 'busy.txt'), 'utf8')).toMatch(/^b\n(more\n)+$/)
})

/** Limits the size of git's writes only, as on a full disk. */
async function withFullDisk<T>(fixture: WorkspaceFixture, work: () => Promise<T>): Promise<T> {
  const folder = join(fixture.repository.beside, 'bin')
  const path = process.env['PATH'] ?? ''
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  await mkdir(folder, { recursive: true })
  const script = `#!/bin/sh\ntrap '' XFSZ\nulimit -f 64\nPATH='${path}' exec '${git}' "$@"\n`
  await writeFile(join(folder, 'git'), script, { mode: 0o755 })
  process.env['PATH'] = `${folder}:${path}`
  try {
    return await work()
  } finally {
    process.env['PATH'] = path
  }
}

test('refuses removal and reset without room for what is kept, and loses nothing', async () => {
  await using fixture = await withWork({})
  const { repository, path, workspaces } = fixture
  const big = randomBytes(300_000)
  await repository.write({ 'big.bin': big, 'small.txt': 's\n' }, path)
  await withFullDisk(fixture, async () => {
    await expect(workspaces.resetWorktree(path, taskId, never)).rejects.toMatchObject({ code: 'git_failed' })
    expect((await readFile(join(path, 'big.bin'))).equals(big)).toBe(true)
    await workspaces.remove(removal(fixture), never).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'git_failed' })
    })
  })
  // Work that could not be kept is in its place, or was renamed.
  const places = [path, `${path}.broken-1`].filter((place) => existsSync(join(place, 'big.bin')))
  expect(places).toHaveLength(1)
  expect((await readFile(join(places[0] ?? '', 'big.bin'))).equals(big)).toBe(true)
  expect(await repository.git(['fsck', '--no-dangling'])).toBe('')
})

test.runIf(canMount)('refuses a removal on a full disk until there is room, and loses nothing', async () => {
  await using disk = await smallDisk(3)
  await using fixture = await withWork({}, {}, disk.path)
  const { repository, path, workspaces } = fixture
  const big = randomBytes(200_000)
  await repository.write({ 'big.bin': big }, path)
  const ballast = join(disk.path, 'ballast')
  await writeFile(ballast, randomBytes(4_000_000)).catch((error: NodeJS.ErrnoException) => {
    expect(error.code).toBe('ENOSPC')
  })
  await expect(workspaces.remove(removal(fixture), never)).rejects.toMatchObject({ code: 'git_failed' })
  await expect(workspaces.resetWorktree(path, taskId, never)).rejects.toMatchObject({ code: 'git_failed' })
  expect((await readFile(join(path, 'big.bin'))).equals(big)).toBe(true)
  await rm(ballast)
  await removeAndReturn(fixture)
  expect(await restore(fixture, (await rescues(fixture))[0])).toMatchObject({ to: 'worktree' })
  expect((await readFile(join(path, 'big.bin'))).equals(big)).toBe(true)
  expect(await repository.git(['fsck', '--no-dangling'])).toBe('')
})

// Root may write everywhere.
test.skipIf(process.getuid?.() === 0)('refuses a removal in a read-only folder', async () => {
  await using fixture = await withWork({})
  const { repository, path, workspaces } = fixture
  await repository.write({ 'new.txt': 'n\n', 'deep/er/file.txt': 'f\n' }, path)
  const parent = join(path, '..')
  execFileSync('chmod', ['555', parent])
  try {
    await expect(workspaces.remove(removal(fixture), never)).rejects.toMatchObject({ code: 'git_failed' })
    expect(await readFile(join(path, 'new.txt'), 'utf8')).toBe('n\n')
  } finally {
    execFileSync('chmod', ['755', parent])
  }
  // Read-only folders within, as package managers create them, don't matter once their files are kept.
  execFileSync('chmod', ['-R', 'a-w', join(path, 'deep')])
  await removeAndReturn(fixture)
  expect(await restore(fixture, (await rescues(fixture))[0])).toMatchObject({ to: 'worktree' })
  expect(await readFile(join(path, 'deep/er/file.txt'), 'utf8')).toBe('f\n')
})

test.each(['the next claim', 'the removal'])(
  'finishes with %s a removal that a crash cut short after the renaming',
  async (by) => {
    await using fixture = await withWork({})
    const { repository, path, workspaces } = fixture
    await repository.write({ 'new.txt': 'n\n' }, path)
    await rename(path, `${path}.removing`)
    expect(await workspaces.orphans(fixture.root, [path])).toEqual([])
    if (by === 'the removal') await removeAndReturn(fixture)
    else {
      const found = await workspaces.ensure(fixture.request({ expect: 'existing' }), never)
      expect(found).toMatchObject({ how: 'reused' })
    }
    expect(await readdir(join(path, '..'))).toEqual([taskId])
    if (by === 'the removal') await restore(fixture, (await rescues(fixture))[0])
    expect(await readFile(join(path, 'new.txt'), 'utf8')).toBe('n\n')
  },
)

test('leaves a folder alone that appears in the place of the removed one', async () => {
  await using fixture = await withWork({})
  const { repository, path, workspaces } = fixture
  await repository.git([
    'config',
    'filter.late.clean',
    `cat; test -d '${path}' || mkdir '${path}' && touch '${path}/mine'`,
  ])
  await repository.write({ '.gitattributes': 'late.txt filter=late\n', 'late.txt': 'l\n' }, path)
  await workspaces.remove(removal(fixture), never).catch(() => undefined)
  await repository.git(['config', '--unset', 'filter.late.clean'])
  const names = await readdir(join(path, '..'))
  const found = await Promise.all(names.map((name) => readdir(join(path, '..', name))))
  expect(found.flat()).toContain('mine')
})

test('works in no worktree whose .git leads to another task’s record', async () => {
  await using fixture = await withWork({})
  const { repository, path, workspaces } = fixture
  const other = fixture.request({ path: join(fixture.root, 'project', 'other'), branch: 'copse/other' })
  await workspaces.ensure(other, never)
  await repository.write({ 'theirs.txt': 'theirs\n' }, other.path)
  await repository.write({ 'mine.txt': 'mine\n' }, path)
  await writeFile(join(path, '.git'), await readFile(join(other.path, '.git')))
  const refused = { code: 'outside_worktree' }
  await expect(workspaces.commitAll(path, 'Work\n', never)).rejects.toMatchObject(refused)
  await expect(workspaces.resetWorktree(path, taskId, never)).rejects.toMatchObject(refused)
  await expect(workspaces.rescue(path, taskId, never)).rejects.toMatchObject(refused)
  expect(await workspaces.ensure(fixture.request({ expect: 'existing' }), never)).toMatchObject({ how: 'reused' })
  expect(await readFile(join(path, 'mine.txt'), 'utf8')).toBe('mine\n')
  expect(await repository.git(['branch', '--show-current'], { cwd: path })).toBe(branch)
  expect(await repository.git(['status', '--porcelain'], { cwd: other.path })).toBe('?? theirs.txt')
  expect(await repository.git(['branch', '--show-current'], { cwd: other.path })).toBe('copse/other')
})

test('works in no worktree whose files are configured elsewhere, and keeps those files', async () => {
  await using fixture = await withWork({})
  const { repository, path, workspaces } = fixture
  const elsewhere = join(repository.beside, 'elsewhere')
  await repository.write({ 'precious.txt': 'p\n' }, elsewhere)
  await repository.git(['config', 'extensions.worktreeConfig', 'true'])
  await repository.git(['config', '--worktree', 'core.worktree', elsewhere], { cwd: path })
  await expect(workspaces.resetWorktree(path, taskId, never)).rejects.toMatchObject({ code: 'outside_worktree' })
  await expect(workspaces.commitAll(path, 'Work\n', never)).rejects.toMatchObject({ code: 'outside_worktree' })
  await repository.write({ 'mine.txt': 'mine\n' }, path)
  await workspaces.remove(removal(fixture), never)
  expect(await readFile(join(elsewhere, 'precious.txt'), 'utf8')).toBe('p\n')
  expect(await readFile(join(`${path}.broken-1`, 'mine.txt'), 'utf8')).toBe('mine\n')
})

test('never writes through a link in the place of a worktree', async () => {
  await using fixture = await withWork({})
  const { repository, path, workspaces } = fixture
  const elsewhere = join(repository.beside, 'elsewhere')
  await rename(path, elsewhere)
  await repository.write({ 'new.txt': 'n\n' }, elsewhere)
  await symlink(elsewhere, path)
  await expect(workspaces.resetWorktree(path, taskId, never)).rejects.toMatchObject({ code: 'outside_worktree' })
  await workspaces.remove(removal(fixture), never)
  expect(await readFile(join(elsewhere, 'new.txt'), 'utf8')).toBe('n\n')
})
