import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tipOf } from '../../../src-main/git/commands/refs.ts'
import { planMerge } from '../../../src-main/git/merge/plan-merge.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { branch, never, withWork } from './workspace-fixture.ts'

const planOf = async (repository: TestRepository, strategy: 'merge' | 'squash' | 'rebase', head = branch) => {
  const [target, tip] = [await tipOf(repository.path, 'main', never), await tipOf(repository.path, head, never)]
  if (target === null || tip === null) throw new Error('A branch is missing.')
  return planMerge(repository.path, { target, head: tip }, strategy, never)
}

const names = ['a.txt', 'b.txt', 'dir/c.txt'] as const
const lines = fc.array(fc.constantFrom('one', 'two', 'three'), { maxLength: 6 })
/** One commit: the new content of some files; null deletes one. */
const commit = fc.dictionary(fc.constantFrom(...names), fc.option(lines), { minKeys: 1 })
const history = fc.array(commit, { maxLength: 3 })

async function make(repository: TestRepository, commits: readonly Record<string, readonly string[] | null>[]) {
  for (const files of commits) {
    for (const [name, content] of Object.entries(files)) {
      if (content === null) await repository.git(['rm', '-q', '--ignore-unmatch', '--', name])
      else await repository.write({ [name]: content.map((line) => `${line}\n`).join('') })
    }
    await repository.commit('Random', {})
  }
}

/** Git's own result in a worktree of its own; null if it finds a conflict, or leaves markers. */
async function byGit(repository: TestRepository, how: readonly string[], on: string): Promise<string | null> {
  const place = join(repository.beside, 'by-git')
  await repository.git(['worktree', 'add', '-q', '--detach', place, on])
  try {
    const isDone = await repository.git([...how], { cwd: place }).then(
      () => true,
      () => false,
    )
    const marked = await repository.git(['grep', '-l', '^<<<<<<<', '--', '.'], { cwd: place }).catch(() => '')
    return isDone && marked === '' ? await repository.git(['rev-parse', 'HEAD^{tree}'], { cwd: place }) : null
  } finally {
    await repository.git(['worktree', 'remove', '--force', '--force', place])
  }
}

test('plans a merge, squash and rebase with git’s own result', { timeout: 240_000 }, async () => {
  const runs = fc.asyncProperty(commit, history, history, async (given, ours, theirs) => {
    await using repository = await createTestRepository()
    await make(repository, [given])
    await repository.git(['branch', 'work'])
    await make(repository, ours)
    await repository.git(['switch', '-q', 'work'])
    await make(repository, theirs)
    await repository.git(['switch', '-q', 'main'])
    const before = await repository.git(['rev-parse', 'main^{tree}'])
    const merged = await byGit(repository, ['merge', '-q', '--no-edit', 'work'], 'main')
    const rebased = await byGit(repository, ['rebase', '-q', '--reapply-cherry-picks', '--empty=drop', 'main'], 'work')
    for (const strategy of ['merge', 'squash', 'rebase'] as const) {
      const plan = await planOf(repository, strategy, 'work')
      const tree = plan.kind === 'conflict' ? null : plan.kind === 'nothing_to_do' ? before : plan.tree
      // A rebase of merged work adds nothing, though git would stumble on the way.
      const isIn = merged === before && tree === before
      expect(tree).toBe(strategy === 'rebase' && !isIn ? rebased : merged)
    }
  })
  // Git merges this with markers: emptied here, moved there onto a file that exists here too, and empty.
  const emptied = { 'dir/c.txt': [], 'a.txt': [] }
  await fc.assert(runs, {
    numRuns: 8,
    examples: [[{ 'a.txt': ['one'] }, [emptied], [{ 'dir/c.txt': ['one', 'one'] }, { 'a.txt': null }]]],
  })
})

test('does not call a rebase up to date if a merge commit adds something', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const { repository } = fixture
  await repository.commit('Before', { 'c.txt': 'c\n' })
  await repository.git(['cherry-pick', branch])
  // The branch merges main and adds something in the merge commit only.
  await repository.git(['merge', '-q', '--no-ff', '--no-commit', 'main'], { cwd: fixture.path })
  await repository.commit('Merge and add', { 'extra.txt': 'extra\n' }, fixture.path)
  await repository.commit('Meanwhile', { 'b.txt': 'b\n' })
  const plan = await planOf(repository, 'rebase')
  expect(plan.kind).toBe('commit')
  const tree = plan.kind === 'commit' ? plan.tree : ''
  expect(await repository.git(['ls-tree', '--name-only', tree])).toBe('README.md\na.txt\nb.txt\nc.txt\nextra.txt')
  expect((await fixture.workspaces.merge(fixture.mergeRequest({ strategy: 'rebase' }), never)).kind).toBe('merged')
  expect(await repository.git(['show', 'main:extra.txt'])).toBe('extra')
})

test.each(['merge', 'squash', 'rebase'] as const)(
  'merges again what was reverted on the target (%s)',
  async (strategy) => {
    await using fixture = await withWork({ 'a.txt': 'task\n' })
    const { repository } = fixture
    await repository.git(['merge', '-q', '--squash', branch])
    await repository.commit('Squashed', {})
    expect((await planOf(repository, strategy)).kind).toBe('nothing_to_do')
    await repository.git(['revert', '--no-edit', 'HEAD'])
    expect((await planOf(repository, strategy)).kind).not.toBe('nothing_to_do')
  },
)
