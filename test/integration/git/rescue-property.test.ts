import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { listRescues } from '../../../src-main/git/rescue/rescue-list.ts'
import { doEdit, readFiles, readTree, readWork, someEdits, startFiles, type Edit } from './random-edits.ts'
import { branch, createFixture, never, taskId, type WorkspaceFixture } from './workspace-fixture.ts'

/** More with `RESCUE_RUNS=500`. */
const numRuns = Number(process.env['RESCUE_RUNS'] ?? 6)

/** A repository with a submodule `lib`. */
async function withSubmodule(): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files: startFiles })
  const { repository } = fixture
  const library = join(repository.beside, 'library')
  await repository.git(['init', '-q', library])
  await repository.commit('Library', { 'lib.txt': 'library\n' }, library)
  await repository.git(['-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library, 'lib'])
  await repository.commit('Use the library', {})
  return fixture
}

const ways = {
  'a reset': async ({ workspaces, path }: WorkspaceFixture) =>
    void (await workspaces.resetWorktree(path, taskId, never)),
  'a removal, and a claim that makes the worktree anew': async (fixture: WorkspaceFixture) => {
    await fixture.workspaces.remove({ repo_path: fixture.repository.path, path: fixture.path, task_id: taskId }, never)
    await fixture.workspaces.ensure(fixture.request({ expect: 'existing' }), never)
  },
}

test.each(Object.entries(ways))(
  'restores exactly the same files after random edits and %s',
  { timeout: 240_000 + numRuns * 4_000 },
  async (name, throwAway) => {
    await using fixture = await withSubmodule()
    const { repository, path, workspaces } = fixture
    const check = async (edits: readonly Edit[]): Promise<void> => {
      await workspaces.ensure(fixture.request(), never)
      const isDeep = edits.some((edit) => edit.kind === 'submodule')
      const update = ['-c', 'protocol.file.allow=always', 'submodule', 'update', '--init', '-q']
      if (isDeep) await repository.git(update, { cwd: path })
      for (const edit of edits) await doEdit(repository, path, edit)
      const before = await readWork(repository, path)
      const inner = isDeep ? await readWork(repository, join(path, 'lib')) : {}
      const clean = await repository.git(['status', '--porcelain', '--ignore-submodules=all'], { cwd: path })

      await throwAway(fixture)

      expect(await repository.git(['status', '--porcelain', '--ignore-submodules=all'], { cwd: path })).toBe('')
      const rescues = await listRescues(repository.path, taskId, never)
      const own = rescues.find((one) => one.kind === 'uncommitted')
      if (clean !== '') expect(own).toBeDefined()
      if (own) {
        const restored = await workspaces.restoreRescue(own, { path, why_not: 'no_worktree', branch: 'back' }, never)
        expect(restored).toMatchObject({ to: 'worktree' })
      }
      expect(await readFiles(path, Object.keys(before))).toEqual(before)
      expect(Object.keys(await readWork(repository, path)).filter((name) => !(name in before))).toEqual([])
      const lib = rescues.find((one) => one.submodule === 'lib')
      if (lib) expect(await readTree(repository, lib.commit)).toEqual(inner)
      else if (isDeep && name !== 'a reset') expect(Object.keys(inner)).toEqual(['lib.txt'])
    }
    const property = fc.asyncProperty(someEdits, async (edits) => {
      try {
        await check(edits)
      } finally {
        const request = { repo_path: repository.path, path, task_id: taskId, branch, delete_branch: true }
        await workspaces.remove(request, never)
        for (const one of await listRescues(repository.path, taskId, never)) await workspaces.deleteRescue(one, never)
      }
    })
    await fc.assert(property, { numRuns, interruptAfterTimeLimit: 15_000 + numRuns * 3_500 })
  },
)
