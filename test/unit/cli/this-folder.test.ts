import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repositoriesOf } from '../../../src-main/cli/this-folder.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'

test('a folder belongs to its repository, a worktree also to the one that it was made of', async () => {
  await using repository = await createTestRepository()
  const deep = join(repository.path, 'a', 'b')
  await mkdir(deep, { recursive: true })
  expect(repositoriesOf(deep)).toEqual([repository.path])

  const worktree = join(repository.beside, 'worktree')
  await repository.git(['worktree', 'add', '-q', worktree])
  expect(repositoriesOf(worktree)).toEqual([worktree, repository.path])
  expect(repositoriesOf(repository.beside)).toEqual([])
})
