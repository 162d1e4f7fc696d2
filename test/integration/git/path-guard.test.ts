import { constants } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { copyFiles } from '../../../src-main/git/files/copy-files.ts'
import { openFolder } from '../../../src-main/git/files/folder.ts'
import { isGitName, pathInside } from '../../../src-main/git/files/path-guard.ts'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { ExecutionId } from '../../../src-shared/contract/ids.ts'

const execution = ExecutionId.parse('01912d68-783e-7a03-8467-5661c1243ad5')
let home = ''
let root = ''
let outside = ''

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'copse paths ')))
  root = join(home, 'worktree')
  outside = join(home, 'outside')
  await mkdir(join(root, 'sub'), { recursive: true })
  await mkdir(outside)
  await writeFile(join(outside, 'secret'), 'secret\n')
})
afterEach(() => rm(home, { recursive: true }))

const refusal = { name: 'WorkspaceError', code: 'outside_worktree' }

describe('worktree rule 6: rejects a path that resolves outside the worktree', () => {
  test.each(['..', '../outside/secret', 'sub/../../outside', '/etc/hostname', 'sub/../..', 'a\0b'])(
    'by its name: %j',
    async (path) => {
      await expect(pathInside(root, path)).rejects.toMatchObject(refusal)
      await expect(openFolder(root, path)).rejects.toMatchObject(refusal)
    },
  )

  test.each(['link', 'link/secret', 'link/new/file', 'sub/up/outside', 'chain', 'dangling'])(
    'through a symlink: %s',
    async (path) => {
      await symlink(outside, join(root, 'link'))
      await symlink('../..', join(root, 'sub/up'))
      await symlink('link', join(root, 'chain'))
      await mkdir(join(root, 'gone'))
      await symlink('../outside/not/there', join(root, 'dangling'))
      await expect(openFolder(root, path, { create: true })).rejects.toMatchObject(refusal)
      expect(await readdir(outside)).toEqual(['secret'])
    },
  )

  test('allows a path inside: plain, new, through an inner link, or with two dots in a name', async () => {
    await symlink('sub', join(root, 'link'))
    await writeFile(join(root, '..file'), 'x')
    expect(await pathInside(root, 'sub/../sub/new')).toBe(join(root, 'sub/new'))
    expect(await pathInside(root, 'link/new')).toBe(join(root, 'link/new'))
    expect(await pathInside(root, '..file')).toBe(join(root, '..file'))
    await using folder = await openFolder(root, 'link/deep/er', { create: true })
    await using file = await folder.open('f', constants.O_WRONLY | constants.O_CREAT)
    await file.writeFile('written\n')
    expect(await readFile(join(root, 'sub/deep/er/f'), 'utf8')).toBe('written\n')
  })

  test('names the path, and what to use instead', async () => {
    await expect(pathInside(root, '../outside')).rejects.toMatchObject({
      message: expect.stringMatching(/“\.\.\/outside” points outside .*worktree\. Use a path inside it\./),
    })
  })
})

describe("rejects a repository's own files, by any name that the file system accepts", () => {
  const names = [
    '.git',
    '.GIT',
    '.Git',
    '.gi\u200ct',
    '.git\u200c',
    '\ufeff.git',
    '\uff0egit',
    '.\uff27IT',
    'GIT~1',
    'git~1',
    '.git.',
    '.git ',
    '.git. .',
    '.git::$INDEX_ALLOCATION',
    '.git:stream',
  ]

  test.each(names)('%j', async (name) => {
    expect(isGitName(name)).toBe(true)
    for (const path of [name, `${name}/config`, `sub/${name}/hooks/pre-commit`]) {
      await expect(pathInside(root, path)).rejects.toMatchObject(refusal)
    }
  })

  test.each(['.gitignore', '.github', 'git', '.git-blame-ignore-revs', 'x.git', 'GIT~2', '.gitmodules'])(
    'but not %j, which is a plain file',
    async (name) => {
      expect(isGitName(name)).toBe(false)
      expect(await pathInside(root, `sub/${name}`)).toBe(join(root, 'sub', name))
    },
  )

  test('also through a harmlessly named link', async () => {
    await mkdir(join(root, '.git'))
    await symlink('.git', join(root, 'harmless'))
    await expect(pathInside(root, 'harmless/config')).rejects.toMatchObject(refusal)
  })
})

test('follows no symlink that appears after the check', async () => {
  await mkdir(join(root, 'sub/inner'))
  await using folder = await openFolder(root, 'sub')
  await rename(join(root, 'sub/inner'), join(root, 'moved'))
  await symlink(outside, join(root, 'sub/inner'))
  await expect(folder.child('inner')).rejects.toMatchObject(refusal)
  await expect(folder.child('inner', { create: true })).rejects.toMatchObject(refusal)
  await symlink(join(outside, 'secret'), join(root, 'sub/file'))
  await expect(folder.open('file', constants.O_RDONLY)).rejects.toMatchObject(refusal)
  await expect(folder.open('file', constants.O_WRONLY | constants.O_CREAT)).rejects.toMatchObject(refusal)
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret\n')
  await rename(root, join(home, 'elsewhere'))
  await symlink(outside, root)
  await expect(openFolder(root, '')).rejects.toMatchObject(refusal)
  await expect(openFolder(root, 'sub', { create: true })).rejects.toMatchObject(refusal)
  expect(await readdir(outside)).toEqual(['secret'])
})

test.runIf(process.platform === 'linux')('keeps an open folder when another takes its place', async () => {
  await using folder = await openFolder(root, 'sub')
  await rename(join(root, 'sub'), join(root, 'was sub'))
  await symlink(outside, join(root, 'sub'))
  await using file = await folder.open('f', constants.O_WRONLY | constants.O_CREAT)
  await file.writeFile('here\n')
  expect(await readdir(outside)).toEqual(['secret'])
  expect(await readFile(join(root, 'was sub/f'), 'utf8')).toBe('here\n')
})

/** A random number, because two processes at the same pace would meet at one point only. */
async function someTurns(): Promise<void> {
  for (let left = Math.floor(Math.random() * 8); left > 0; left -= 1) await setImmediate()
}

/** Swaps a folder for a link to `outside` and back, as fast as possible, until stopped. */
async function swapUntil(stop: AbortSignal, place: string): Promise<number> {
  let swaps = 0
  for (; !stop.aborted; swaps += 1) {
    await someTurns()
    await rename(place, `${place}.real`)
    await symlink(outside, place).catch(async (error: NodeJS.ErrnoException) => {
      // In between, the service has created the missing folder.
      if (error.code !== 'EEXIST') throw error
      await rename(place, `${place}.made-${swaps}`)
      await symlink(outside, place)
    })
    await someTurns()
    await rm(place)
    await rename(`${place}.real`, place).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY') throw error
      await rename(place, `${place}.made-${swaps}`)
      await rename(`${place}.real`, place)
    })
  }
  return swaps
}

test('a race: copies nothing outside while a folder is swapped for a link', async () => {
  const repository = join(home, 'repository')
  await mkdir(join(repository, 'sub'), { recursive: true })
  const names = Array.from({ length: 40 }, (_, number) => `sub/file-${number}.env`)
  for (const name of names) await writeFile(join(repository, name), 'copied\n')
  const stop = new AbortController()
  const swaps = swapUntil(stop.signal, join(root, 'sub'))
  let [copied, refused] = [0, 0]
  try {
    // Both must have happened often, or there was no race.
    for (let round = 0; round < 4_000 && (copied < 20 || refused < 20); round += 1) {
      const name = names[round % names.length] ?? ''
      await rm(join(root, name), { force: true })
      try {
        await copyFiles(repository, root, [name])
        copied += 1
      } catch (error) {
        // Between two renames the folder does not exist.
        const code = error instanceof Error && 'code' in error ? error.code : null
        if (code !== 'outside_worktree' && code !== 'ENOENT' && code !== 'EEXIST') throw error
        refused += 1
      }
    }
  } finally {
    stop.abort()
    await swaps
  }
  expect(await swaps).toBeGreaterThan(0)
  expect(await readdir(outside)).toEqual(['secret'])
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret\n')
  expect(copied).toBeGreaterThan(0)
  expect(refused).toBeGreaterThan(0)
})

test('a race: creates no lock outside while the worktree is swapped for a link', async () => {
  const workspaces = createWorkspaces()
  const stop = new AbortController()
  const swaps = swapUntil(stop.signal, root)
  let [taken, refused] = [0, 0]
  try {
    for (let round = 0; round < 4_000 && (taken < 10 || refused < 10); round += 1) {
      try {
        if ((await workspaces.lock(root, { execution_id: execution, pid: null })) === null) taken += 1
        await workspaces.unlock(root, execution)
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : null
        // Between two renames the folder does not exist.
        if (code !== 'outside_worktree' && code !== 'git_failed') throw error
        refused += 1
      }
    }
  } finally {
    stop.abort()
    await swaps
  }
  expect(await swaps).toBeGreaterThan(0)
  expect(await readdir(outside)).toEqual(['secret'])
  expect(taken).toBeGreaterThan(0)
  expect(refused).toBeGreaterThan(0)
})
