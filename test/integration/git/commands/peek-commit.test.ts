import { chmod, copyFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { peekCommits } from '../../../../src-main/git/commands/peek-commit.ts'
import { readCommits, readTips } from '../../../../src-main/git/commands/refs.ts'
import { createTestRepository, type TestRepository } from '../../../helpers/git-repository.ts'

const { signal } = new AbortController()

const tip = (repository: TestRepository) => repository.git(['rev-parse', 'main'])
const commonOf = ({ path }: TestRepository) => join(path, '.git')
const fileOf = (repository: TestRepository, commit: string) =>
  join(commonOf(repository), 'objects', commit.slice(0, 2), commit.slice(2))

/** What git says of a commit. */
async function byGit(repository: TestRepository, commit: string) {
  const [tree = '', parents = ''] = (await repository.git(['log', '-1', '--format=%T%n%P', commit])).split('\n')
  return { commit, tree, parents: parents.split(' ').filter(Boolean) }
}

/** The first commit, one on top of it, and a merge, whose message looks like a commit's head. */
async function withHistory() {
  const repository = await createTestRepository()
  const first = await tip(repository)
  const second = await repository.commit('Second', { 'a.txt': 'a\n' })
  await repository.git(['switch', '-q', '-c', 'side', first])
  await repository.commit('Side', { 'b.txt': 'b\n' })
  await repository.git(['switch', '-q', 'main'])
  await repository.git(['merge', '-q', '--no-ff', '-m', `tree ${first}\nparent ${first}\nauthor x`, 'side'])
  return { repository, commits: [await tip(repository), second, first] }
}

async function expectAsGit(repository: TestRepository, commits: readonly string[]) {
  const expected = await Promise.all(commits.map((commit) => byGit(repository, commit)))
  const peeked = await peekCommits(commonOf(repository), commits)
  expect([...(peeked?.values() ?? [])]).toEqual(expected)
  expect(await readCommits(repository.path, commits, { signal })).toEqual(expected)
}

test('reads commits as git does', async () => {
  const { repository, commits } = await withHistory()
  await using _ = repository
  await expectAsGit(repository, commits)
})

test('reads commits of a repository with SHA-256 as git does', async () => {
  await using repository = await createTestRepository()
  await rm(commonOf(repository), { recursive: true })
  await repository.git(['init', '-q', '-b', 'main', '--object-format=sha256'])
  const first = await repository.commit('First', { 'a.txt': 'a\n' })
  await expectAsGit(repository, [await repository.commit('Second', { 'a.txt': 'b\n' }), first])
})

test('reads the same of packed commits, through git', async () => {
  const { repository, commits } = await withHistory()
  await using _ = repository
  const expected = await Promise.all(commits.map((commit) => byGit(repository, commit)))
  const tips = await readTips(repository.path, ['main', 'nothing', 'side'], { signal })
  expect(tips.get('main')).toEqual(expected[0])
  await repository.git(['repack', '-adq'])
  expect(await peekCommits(commonOf(repository), commits)).toBeNull()
  expect(await readCommits(repository.path, commits, { signal })).toEqual(expected)
  expect(await readTips(repository.path, ['main', 'nothing', 'side'], { signal })).toEqual(tips)
  // One that has a file and one that is packed.
  const more = await repository.commit('More', { 'more.txt': 'x\n' })
  expect(await peekCommits(commonOf(repository), [more])).toEqual(new Map([[more, await byGit(repository, more)]]))
  expect(await peekCommits(commonOf(repository), [more, ...commits])).toBeNull()
  const again = await readCommits(repository.path, [more, more, ...commits], { signal })
  expect(again).toEqual([await byGit(repository, more), await byGit(repository, more), ...expected])
})

test('leaves to git what is no commit, or not what its name says', async () => {
  const { repository, commits } = await withHistory()
  await using _ = repository
  const [merge = '', second = ''] = commits
  const tree = await repository.git(['rev-parse', 'main^{tree}'])
  for (const other of [tree, merge.slice(0, 12), 'main', `../${merge}`])
    expect(await peekCommits(commonOf(repository), [other])).toBeNull()
  const file = fileOf(repository, merge)
  await chmod(file, 0o600)
  await copyFile(fileOf(repository, second), file)
  expect(await peekCommits(commonOf(repository), [merge])).toBeNull()
  await rm(file)
  await symlink(fileOf(repository, second), file)
  expect(await peekCommits(commonOf(repository), [merge])).toBeNull()
})

test('leaves a shallow history to git, which knows where it ends', async () => {
  const { repository, commits } = await withHistory()
  await using _ = repository
  const [merge = ''] = commits
  await writeFile(join(commonOf(repository), 'shallow'), `${merge}\n`)
  expect(await peekCommits(commonOf(repository), [merge])).toBeNull()
  const [read] = await readCommits(repository.path, [merge], { signal })
  expect(read).toEqual({ ...(await byGit(repository, merge)), parents: [] })
})

test('leaves parents that a graft changes to git', async () => {
  const { repository, commits } = await withHistory()
  await using _ = repository
  const [merge = ''] = commits
  await writeFile(join(commonOf(repository), 'info', 'grafts'), `${merge}\n`)
  expect(await peekCommits(commonOf(repository), [merge])).toBeNull()
})
