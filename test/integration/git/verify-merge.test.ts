import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTips } from '../../../src-main/git/commands/refs.ts'
import { verifyMerge } from '../../../src-main/git/merge/verify-merge.ts'
import { branch, never, withWork, type WorkspaceFixture } from './workspace-fixture.ts'

const sidesOf = async ({ repository }: WorkspaceFixture) => {
  const tips = await readTips(repository.path, ['main', branch], never)
  const [target, head] = [tips.get('main'), tips.get(branch)]
  if (!target || !head) throw new Error('The fixture has no branches.')
  return { target, head }
}
const request = ({ repository }: WorkspaceFixture) => ({ repo_path: repository.path, branch, base_branch: 'main' })

/** Merges with plain git and returns the input of `verifyMerge`. */
async function merged(fixture: WorkspaceFixture, how: readonly string[]) {
  const sides = await sidesOf(fixture)
  await fixture.repository.git([...how])
  if (how.includes('--squash')) await fixture.repository.git(['commit', '-qm', 'Squashed'])
  return { ...sides, commit: await fixture.repository.git(['rev-parse', 'main']) }
}

test.each([
  ['merge', ['merge', '-q', '--no-ff', branch]],
  ['squash', ['merge', '-q', '--squash', branch]],
  ['rebase', ['cherry-pick', `main..${branch}`]],
])('recognizes a %s that brought the work in', async (_name, how) => {
  await using fixture = await withWork({ 'a.txt': 'task\n', 'new.txt': 'new\n' })
  await fixture.repository.commit('Second', { 'new.txt': 'newer\n' }, fixture.path)
  await fixture.repository.commit('Meanwhile', { 'b.txt': 'b\n' })
  const sides = await merged(fixture, how)
  expect(await verifyMerge(request(fixture), sides, never)).toBe('held')
  // The target may have moved on from there.
  await fixture.repository.commit('Afterwards', { 'a.txt': 'changed again\n' })
  expect(await verifyMerge(request(fixture), sides, never)).toBe('held')
})

test('notices commits that arrived on the branch during the merge', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const sides = await merged(fixture, ['merge', '-q', '--no-ff', branch])
  await fixture.repository.commit('Late', { 'late.txt': 'late\n' }, fixture.path)
  expect(await verifyMerge(request(fixture), sides, never)).toBe('moved_on')
})

test.each<[string, (fixture: WorkspaceFixture) => Promise<unknown>]>([
  ['was moved back', ({ repository }) => repository.git(['reset', '-q', '--hard', 'HEAD^'])],
  ['was rewritten', ({ repository }) => repository.git(['commit', '-q', '--amend', '-m', 'Another'])],
  [
    'is gone',
    async ({ repository }) => {
      await repository.git(['switch', '-q', '-c', 'elsewhere'])
      await repository.git(['branch', '-q', '-D', 'main'])
    },
  ],
])('rejects a target that %s', async (_name, spoil) => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const sides = await merged(fixture, ['merge', '-q', '--no-ff', branch])
  await spoil(fixture)
  await expect(verifyMerge(request(fixture), sides, never)).rejects.toMatchObject({
    code: 'unverified',
    message: expect.stringContaining(`${branch} has all of it still`),
  })
})

test('rejects a merge commit without the work, although its parents are right', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const { repository } = fixture
  const sides = await sidesOf(fixture)
  await repository.git(['merge', '-q', '--squash', branch])
  await repository.git(['reset', '-q', '--hard'])
  const commit = await repository.commit('Squashed, or so it says', { 'b.txt': 'b\n' })
  await expect(verifyMerge(request(fixture), { ...sides, commit }, never)).rejects.toMatchObject({ code: 'unverified' })
})

test('reports a merge that is reverted at once, and loses nothing of the task', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const { repository, workspaces } = fixture
  await repository.git(['switch', '-q', '--detach'])
  const before = await repository.git(['rev-parse', 'main'])
  const hook = join(repository.path, '.git/hooks/reference-transaction')
  const back = `[ "$1" = committed ] && [ ! -e .git/once ] && touch .git/once && git update-ref refs/heads/main ${before}`
  await writeFile(hook, `#!/bin/sh\nread old new ref\n[ "$ref" = refs/heads/main ] && ${back}\nexit 0\n`, {
    mode: 0o755,
  })
  await expect(workspaces.merge(fixture.mergeRequest(), never)).rejects.toMatchObject({ code: 'unverified' })
  expect(await repository.git(['show', `${branch}:a.txt`])).toBe('task')
  expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect(await repository.git(['show', 'main:a.txt'])).toBe('task')
})

test.each(['merge', 'squash', 'rebase'] as const)(
  'merges what arrives on the branch during the merge (%s)',
  async (strategy) => {
    await using fixture = await withWork({ 'one.txt': '1\n' })
    const { repository, workspaces } = fixture
    await repository.commit('Meanwhile', { 'b.txt': 'b\n' })
    await repository.git(['branch', 'late', branch])
    const place = join(fixture.root, 'late')
    await repository.git(['worktree', 'add', '-q', place, 'late'])
    const late = await repository.commit('Late', { 'two.txt': '2\n' }, place)
    const hook = join(repository.path, '.git/hooks/reference-transaction')
    const add = `[ "$1" = committed ] && [ ! -e '${place}/once' ] && touch '${place}/once' && git update-ref refs/heads/${branch} ${late}`
    await writeFile(hook, `#!/bin/sh\nread old new ref\n[ "$ref" = refs/heads/main ] && ${add}\nexit 0\n`, {
      mode: 0o755,
    })
    expect((await workspaces.merge(fixture.mergeRequest({ path: null, strategy }), never)).kind).toBe('merged')
    expect(await repository.git(['ls-tree', '--name-only', 'main'])).toContain('one.txt\ntwo.txt')
  },
)
