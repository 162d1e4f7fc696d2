import { expect, test } from 'vitest'
import type { Rescue } from '../../../src-shared/contract/rescues.ts'
import { createFixture, never, taskId, withWork, type WorkspaceFixture } from './workspace-fixture.ts'

async function only({ workspaces, repository }: WorkspaceFixture): Promise<Rescue> {
  const [rescue, ...more] = await workspaces.rescues(repository.path, taskId, never)
  expect(more).toEqual([])
  if (rescue === undefined) throw new Error('Nothing was kept.')
  return rescue
}
const shown = async (
  { workspaces }: WorkspaceFixture,
  rescue: Pick<Rescue, 'repo_path' | 'commit' | 'kind'>,
  file: string | null = null,
) => await workspaces.rescueDiff(rescue, file, never)

test('shows uncommitted work against its commit, untracked files included', async () => {
  await using fixture = await withWork({ 'a.txt': 'committed\n' })
  const { repository, workspaces, path } = fixture
  const head = await repository.git(['rev-parse', 'HEAD'], { cwd: path })
  await repository.write({ 'a.txt': 'written\n', 'new file.txt': 'new\n' }, path)
  await workspaces.resetWorktree(path, taskId, never)
  const rescue = await only(fixture)
  const diff = await shown(fixture, rescue)
  expect(diff).toMatchObject({ base: head, truncated: false })
  expect(diff.files.map(({ path: name, status }) => [name, status])).toEqual([
    ['a.txt', 'modified'],
    ['new file.txt', 'added'],
  ])
  expect(diff.patch).toContain('-committed\n+written\n')
  const one = await shown(fixture, rescue, 'new file.txt')
  expect(one.files.map((file) => file.path)).toEqual(['new file.txt'])
  expect(one.patch).toContain('+new\n')
})

test('shows the staged version of work that is only staged', async () => {
  await using fixture = await withWork({ 'a.txt': 'committed\n' })
  const { repository, workspaces, path } = fixture
  await repository.write({ 'a.txt': 'staged\n' }, path)
  await repository.git(['add', 'a.txt'], { cwd: path })
  await repository.write({ 'a.txt': 'committed\n' }, path)
  await workspaces.resetWorktree(path, taskId, never)
  expect((await shown(fixture, await only(fixture))).patch).toContain('-committed\n+staged\n')
})

test('shows commits together from where they left the branches', async () => {
  await using fixture = await withWork({ 'a.txt': 'one\n' })
  const { repository, workspaces, path } = fixture
  const fork = await repository.git(['merge-base', 'main', 'HEAD'], { cwd: path })
  await repository.commit('More', { 'b.txt': 'two\n' }, path)
  await repository.commit('On main', { 'main.txt': 'main\n' })
  await workspaces.discard({ ...fixture.ref(), base_commit: null, task_id: taskId }, never)
  const rescue = await only(fixture)
  const diff = await shown(fixture, rescue)
  expect(diff.base).toBe(fork)
  expect(diff.files.map((file) => file.path)).toEqual(['a.txt', 'b.txt'])
  await repository.git(['branch', 'back', rescue.commit])
  expect(await shown(fixture, rescue)).toEqual(diff)
})

test('shows everything as new that was kept before the first commit', async () => {
  await using fixture = await createFixture()
  const { repository } = fixture
  const tree = await repository.git(['rev-parse', 'HEAD^{tree}'])
  const commit = await repository.git(['commit-tree', tree, '-m', 'A root of its own'])
  const diff = await shown(fixture, { repo_path: repository.path, commit, kind: 'commits' })
  expect(diff).toMatchObject({ base: null, files: [{ path: 'README.md', status: 'added' }] })
})
