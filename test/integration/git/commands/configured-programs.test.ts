import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import {
  findConfig,
  listConfig,
  readEntries,
  type ConfigPlace,
} from '../../../../src-main/git/commands/configured-programs.ts'
import { present } from '../../../helpers/present.ts'
import { createTestRepository, type TestRepository } from '../../../helpers/git-repository.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

/** A repository with two worktrees, and a reader that counts how often git is asked. */
async function createWorktrees(repository: TestRepository) {
  const places: ConfigPlace[] = []
  for (const name of ['one', 'two']) {
    const path = `${repository.path}-${name}`
    await repository.git(['worktree', 'add', '--quiet', path])
    places.push(present(await findConfig(path, [])))
  }
  const [one, two] = places.map(present)
  let asked = 0
  const values = async (place: ConfigPlace | undefined, key: string) => {
    const entries = await readEntries(present(place), async ({ git_dir }) => {
      asked += 1
      const list = ['--git-dir', git_dir, ...listConfig]
      const { GIT_CONFIG_GLOBAL } = process.env
      return Buffer.from(await repository.git(list, GIT_CONFIG_GLOBAL ? { env: { GIT_CONFIG_GLOBAL } } : {}))
    })
    return entries.filter((entry) => entry.key === key).map(({ value }) => value)
  }
  return { one, two, values, asked: () => asked }
}

test('asks git once for the configuration of all worktrees, and again after a change', async () => {
  await using repository = await createTestRepository()
  const { one, two, values, asked } = await createWorktrees(repository)
  expect([await values(one, 'a.b'), await values(two, 'a.b'), await values(one, 'a.b'), asked()]).toEqual([
    [],
    [],
    [],
    1,
  ])
  await repository.git(['config', 'a.b', 'c'])
  expect([await values(two, 'a.b'), await values(one, 'a.b'), asked()]).toEqual([['c'], ['c'], 2])
})

test('sees a change of the user’s own configuration', async () => {
  await using repository = await createTestRepository()
  const file = join(repository.path, '.git', 'users-config')
  await writeFile(file, '[a]\n\tb = first\n')
  vi.stubEnv('GIT_CONFIG_GLOBAL', file)
  const { one, values } = await createWorktrees(repository)
  expect(await values(one, 'a.b')).toEqual(['first'])
  await writeFile(file, '[a]\n\tb = second\n')
  expect(await values(one, 'a.b')).toEqual(['second'])
})

test('takes a configuration of one worktree for no other’s', async () => {
  await using repository = await createTestRepository()
  const { one, two, values } = await createWorktrees(repository)
  await repository.git(['config', 'extensions.worktreeConfig', 'true'])
  await appendFile(join(present(one).git_dir, 'config.worktree'), '[a]\n\tb = only one\n')
  expect([await values(two, 'a.b'), await values(one, 'a.b'), await values(two, 'a.b')]).toEqual([[], ['only one'], []])
})

test('takes a condition of the user’s that holds in one worktree for no other', async () => {
  await using repository = await createTestRepository()
  const { one, two, values } = await createWorktrees(repository)
  const [file, included] = ['users-config', 'included'].map((name) => join(repository.path, '.git', name))
  await writeFile(present(included), '[a]\n\tb = only one\n')
  await writeFile(present(file), `[includeIf "gitdir:${present(one).git_dir}"]\n\tpath = ${present(included)}\n`)
  vi.stubEnv('GIT_CONFIG_GLOBAL', file)
  expect([await values(one, 'a.b'), await values(two, 'a.b')]).toEqual([['only one'], []])
})
