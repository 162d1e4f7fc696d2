import { readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasNoFlags } from '../../../../src-main/git/commands/index-flags.ts'
import { createTestRepository, type TestRepository } from '../../../helpers/git-repository.ts'

const indexOf = ({ path }: TestRepository) => join(path, '.git', 'index')

const marks = [
  ['--assume-unchanged', '--no-assume-unchanged'],
  ['--skip-worktree', '--no-skip-worktree'],
] as const

/** Files with names of every length of padding, and one in the index alone, longer than an entry can say. */
async function withFiles() {
  const repository = await createTestRepository()
  const names = Array.from({ length: 17 }, (_, length) => `f${'x'.repeat(length)}.txt`)
  await repository.commit('Files', Object.fromEntries(names.map((name) => [name, `${name}\n`])))
  const blob = await repository.git(['rev-parse', 'HEAD:f.txt'])
  const long = `${Array.from({ length: 20 }, () => 'd'.repeat(220)).join('/')}/ü.txt`
  await repository.git(['update-index', '--add', '--cacheinfo', `100644,${blob},${long}`])
  return { repository, names }
}

test('sees in each place of an index whether a file is marked', async () => {
  const { repository, names } = await withFiles()
  await using _ = repository
  expect(await hasNoFlags(indexOf(repository))).toBe(true)
  for (const name of names) {
    for (const [mark, unmark] of marks) {
      await repository.git(['update-index', mark, name])
      expect(await hasNoFlags(indexOf(repository))).toBe(false)
      await repository.git(['update-index', unmark, name])
      expect(await hasNoFlags(indexOf(repository))).toBe(true)
    }
  }
})

test('reads an index with intended files, unmerged ones, links, submodules and resolved conflicts', async () => {
  await using repository = await createTestRepository()
  await repository.commit('Mine', { 'a.txt': 'mine\n', 'run.sh': '#!/bin/sh\n' })
  await symlink('a.txt', join(repository.path, 'link'))
  await repository.git(['switch', '-q', '-c', 'other', 'HEAD^'])
  await repository.commit('Theirs', { 'a.txt': 'theirs\n' })
  await repository.git(['merge', '-q', 'main']).catch(() => undefined)
  const head = await repository.git(['rev-parse', 'HEAD'])
  await repository.git(['add', 'link'])
  await repository.git(['update-index', '--add', '--cacheinfo', `160000,${head},sub`])
  await writeFile(join(repository.path, 'intended.txt'), 'x\n')
  await repository.git(['add', '--intent-to-add', 'intended.txt'])
  expect(await repository.git(['ls-files', '--unmerged'])).toContain('a.txt')
  expect(await hasNoFlags(indexOf(repository))).toBe(true)
  await repository.git(['add', 'a.txt'])
  expect(await hasNoFlags(indexOf(repository))).toBe(true)
  // The entry of an intended file has a second field of flags, as that of a skipped one.
  await repository.git(['update-index', '--skip-worktree', 'run.sh'])
  expect(await hasNoFlags(indexOf(repository))).toBe(false)
})

test.each<[string, (repository: TestRepository) => Promise<unknown>]>([
  ['of version 4', ({ git }) => git(['update-index', '--index-version', '4'])],
  ['that is split', ({ git }) => git(['update-index', '--split-index'])],
  [
    'that is no plain file',
    async (one) => {
      await rename(indexOf(one), `${indexOf(one)}.real`)
      await symlink('index.real', indexOf(one))
    },
  ],
  ['that is missing', (one) => rm(indexOf(one))],
  [
    'that is cut',
    async (one) => {
      const bytes = await readFile(indexOf(one))
      await writeFile(indexOf(one), bytes.subarray(0, bytes.length - 40))
    },
  ],
  [
    'of SHA-256',
    async (one) => {
      await rm(join(one.path, '.git'), { recursive: true })
      await one.git(['init', '-q', '-b', 'main', '--object-format=sha256'])
      await one.commit('First', { 'a.txt': 'a\n' })
    },
  ],
])('leaves an index %s to git', async (_name, change) => {
  await using repository = await createTestRepository()
  await repository.commit('Files', { 'a.txt': 'a\n', 'b.txt': 'b\n' })
  expect(await hasNoFlags(indexOf(repository))).toBe(true)
  await change(repository)
  expect(await hasNoFlags(indexOf(repository))).toBe(false)
})
