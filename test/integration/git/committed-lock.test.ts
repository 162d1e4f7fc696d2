import { expect, test } from 'vitest'
import type { ExecutionId } from '../../../src-shared/contract/ids.ts'
import { createFixture, never, taskId, type WorkspaceFixture } from './workspace-fixture.ts'

const execution_id = '01912d68-783e-7a03-8467-5661c1243ad5' as ExecutionId

async function commitLock({ workspaces, repository, path }: WorkspaceFixture): Promise<void> {
  expect(await workspaces.lock(path, { execution_id, pid: null })).toBeNull()
  await repository.write({ 'work.txt': 'done\n' }, path)
  await repository.git(['add', '--force', '.svc.lock', 'work.txt'], { cwd: path })
  await repository.git(['commit', '--quiet', '-m', 'Work'], { cwd: path })
}

const filesOf = async ({ repository }: WorkspaceFixture, commit: string): Promise<string> =>
  await repository.git(['ls-tree', '-r', '--name-only', commit])

test.each(['with its worktree', 'without its worktree'])(
  'leaves a lock file that was committed by force out of diff and merge, %s',
  async (how) => {
    await using fixture = await createFixture()
    const { workspaces, repository, path } = fixture
    const made = await workspaces.ensure(fixture.request(), never)
    const base_commit = made.kind === 'ready' ? made.base_commit : null
    await commitLock(fixture)
    if (how === 'with its worktree') {
      expect((await workspaces.status(fixture.ref(), never)).dirty).toBe(false)
      expect(await workspaces.rescue(path, taskId, never)).toBeNull()
    } else {
      await workspaces.unlock(path, execution_id)
      await workspaces.remove({ repo_path: repository.path, path, task_id: taskId }, never)
    }
    const ref = { ...fixture.ref({ base_commit }), ...(how === 'without its worktree' && { path: null }) }
    const diff = await workspaces.diff(ref, 'branch', null, never)
    expect(diff.files.map((file) => file.path)).toEqual(['work.txt'])
    const work = await workspaces.work(ref, never)
    expect(work?.tree).toBe(diff.tree)
    if (work === null) throw new Error('There is no work.')
    const head = await workspaces.commitWork(ref, work, 'Judged\n', never)
    expect(await workspaces.merge({ ...fixture.mergeRequest(ref), head }, never)).toMatchObject({ kind: 'merged' })
    expect(await filesOf(fixture, 'main')).toBe('README.md\nwork.txt')
    expect(await repository.git(['status', '--porcelain'])).toBe('')
    if (how === 'with its worktree') expect(await workspaces.readLock(path)).toEqual({ execution_id, pid: null })
  },
)

test('leaves a file of that name as the base has it', async () => {
  await using fixture = await createFixture()
  const { workspaces, repository } = fixture
  await repository.commit('Someone did', { '.svc.lock': 'theirs\n' })
  const made = await workspaces.ensure(fixture.request(), never)
  const ref = fixture.ref({ base_commit: made.kind === 'ready' ? made.base_commit : null })
  expect((await workspaces.diff(ref, 'branch', null, never)).files).toEqual([])
  await commitLock(fixture)
  expect((await workspaces.diff(ref, 'branch', null, never)).files.map((file) => file.path)).toEqual(['work.txt'])
  const work = await workspaces.work(ref, never)
  expect(await filesOf(fixture, work?.tree ?? '')).toBe('.svc.lock\nREADME.md\nwork.txt')
})
