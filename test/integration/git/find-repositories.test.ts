import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findRepositories } from '../../../src-main/git/find-repositories.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'

const signal = new AbortController().signal

test('finds repositories in the usual places, most recent first', async () => {
  await using linked = await createTestRepository()
  const home = join(linked.beside, 'home')
  const make = async (path: string, year: number) => {
    await mkdir(join(home, path, '.git'), { recursive: true })
    const at = new Date(`${year}-01-01T00:00:00Z`)
    await utimes(join(home, path, '.git'), at, at)
  }
  await make('dotfiles', 2020)
  await make('code/ferry', 2024)
  await make('code/customer/lantern', 2023)
  await make('Documents/GitHub/notes', 2022)
  // Too deep, hidden, of a package, a worktree, or elsewhere.
  await make('code/customer/old/deep', 2024)
  await make('.cache/thing', 2024)
  await make('code/node_modules/left-pad', 2024)
  await mkdir(join(home, 'code/worktree'))
  await writeFile(join(home, 'code/worktree/.git'), 'gitdir: /elsewhere\n')
  await symlink(linked.path, join(home, 'code/link'))

  const found = await findRepositories(home, { signal })
  expect(found.map(({ path }) => path.slice(home.length + 1))).toEqual([
    'code/ferry',
    'code/customer/lantern',
    'Documents/GitHub/notes',
    'dotfiles',
  ])
  expect(found[0]).toMatchObject({ name: 'ferry', changed_at: '2024-01-01T00:00:00.000Z' })
  expect(await findRepositories(join(home, 'nobody'), { signal })).toEqual([])
})

test('lists at most twenty', async () => {
  await using repository = await createTestRepository()
  const home = join(repository.beside, 'home')
  await Promise.all(
    Array.from({ length: 60 }, (_, n) => mkdir(join(home, 'src', `r${n}`, '.git'), { recursive: true })),
  )
  expect(await findRepositories(home, { signal })).toHaveLength(20)
})
