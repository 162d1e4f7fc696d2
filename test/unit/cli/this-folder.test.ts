import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repositoriesOf } from '../../../src-main/cli/this-folder.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'

test('finds the repository of a folder, and of a worktree also its main repository', async () => {
  await using repository = await createTestRepository()
  const deep = join(repository.path, 'a', 'b')
  await mkdir(deep, { recursive: true })
  expect(repositoriesOf(deep)).toEqual([repository.path])

  const worktree = join(repository.beside, 'worktree')
  await repository.git(['worktree', 'add', '-q', worktree])
  expect(repositoriesOf(worktree)).toEqual([worktree, repository.path])
  expect(repositoriesOf(repository.beside)).toEqual([])
})
