import { rm, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isAt, placeWorktree, taskClone } from '../../../src-main/git/sending/task-clone.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'

const signal = new AbortController().signal

test('makes a worktree again that git no longer knows, and keeps what is in it beside', async () => {
  await using repository = await createTestRepository()
  const clone = taskClone(repository.beside)
  await repository.git(['clone', '--quiet', '--bare', repository.path, clone.repository])
  const head = await repository.git(['rev-parse', 'HEAD'])
  const place = () => placeWorktree(clone, { branch: 'svc/task', head, snapshot: null }, { signal })
  expect(await place()).toBe(true)
  await writeFile(join(clone.worktree, 'mine.txt'), 'mine\n')
  // As a runner leaves it that is killed while git makes it.
  await rm(join(clone.repository, 'worktrees'), { recursive: true })
  expect(await isAt(clone, head, { signal })).toBe(true)
  expect(await place()).toBe(true)
  expect(await repository.git(['status', '--porcelain'], { cwd: clone.worktree })).toBe('')
  expect(await readFile(join(`${clone.worktree}.aside`, 'mine.txt'), 'utf8')).toBe('mine\n')
})
