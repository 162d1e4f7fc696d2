import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTipCache } from '../../../src-main/git/overlaps/tip-cache.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'

/** Asks for two branches through a cache whose clock is ahead by `ahead` ms; `reads` counts what wasn't known. */
function through(repository: TestRepository) {
  const clock = { ahead: 10_000 }
  const cache = createTipCache(() => Date.now() + clock.ahead)
  const names = ['main', 'svc/one']
  const seen = { reads: 0 }
  const read = async () => {
    seen.reads += 1
    const lines = await repository.git(['for-each-ref', '--format=%(refname:lstrip=2) %(objectname)', 'refs/heads'])
    return new Map(lines.split('\n').map((line) => line.split(' ') as [string, string]))
  }
  return { clock, seen, ask: () => cache.get(join(repository.path, '.git'), names, read) }
}

test('reads the tips of branches again once git has changed one, and not before', async () => {
  await using repository = await createTestRepository()
  await repository.git(['branch', 'svc/one'])
  const { seen, ask } = through(repository)
  const tipOf = async (name: string) => (await ask()).get(name)
  const before = await tipOf('main')
  expect([await tipOf('svc/one'), await tipOf('main'), seen.reads]).toEqual([before, before, 1])

  const commit = await repository.commit('more', { 'b.txt': 'b\n' })
  expect([await tipOf('main'), await tipOf('svc/one'), seen.reads]).toEqual([commit, before, 2])
  await repository.git(['branch', '--force', 'svc/one', 'main'])
  expect([await tipOf('svc/one'), await tipOf('main'), seen.reads]).toEqual([commit, commit, 3])
  await repository.git(['pack-refs', '--all'])
  expect([await tipOf('svc/one'), seen.reads]).toEqual([commit, 4])
  await repository.git(['branch', '--delete', '--force', 'svc/one'])
  expect([await tipOf('svc/one'), seen.reads]).toEqual([undefined, 5])
  // Objects, the index and notes beside the branches change nothing.
  await repository.git(['tag', 'v1'])
  expect([await tipOf('main'), seen.reads]).toEqual([commit, 5])
})

test('trusts no change that is too young to be the last, and nothing for longer than a minute', async () => {
  await using repository = await createTestRepository()
  const { clock, seen, ask } = through(repository)
  clock.ahead = 0
  await ask()
  await ask()
  expect(seen.reads).toBe(2)
  clock.ahead = 10_000
  await ask()
  clock.ahead = 60_000
  await ask()
  expect(seen.reads).toBe(3)
  clock.ahead = 71_000
  await ask()
  expect(seen.reads).toBe(4)
})
