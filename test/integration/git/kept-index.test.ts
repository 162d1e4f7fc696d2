import { existsSync } from 'node:fs'
import { appendFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { doEdit, someEdits, startFiles } from './random-edits.ts'
import { createFixture, never, taskId, withWork, type WorkspaceFixture } from './workspace-fixture.ts'

/** More with `DIFF_RUNS=500`. */
const numRuns = Number(process.env['DIFF_RUNS'] ?? 4)

/** Git compares the content of what was just written, whatever was kept; of an older file it trusts the times. */
const past = new Date(Date.now() - 3_600_000)

const keptIndexes = (fixture: WorkspaceFixture) =>
  readdir(join(fixture.repository.beside, 'data', 'indexes')).catch(() => [] as string[])

/** Reads the branch's diff with what was kept, and without. */
async function readBoth(fixture: WorkspaceFixture) {
  const kept = await fixture.workspaces.diff(fixture.ref(), 'branch', null, never)
  const fresh = await createWorkspaces().diff(fixture.ref(), 'branch', null, never)
  return { kept, fresh }
}

test('shows after each of any edits what a first read would show', { timeout: 20_000 + numRuns * 4_000 }, async () => {
  const property = fc.asyncProperty(someEdits, async (edits) => {
    await using fixture = await createFixture({ files: startFiles })
    await fixture.workspaces.ensure(fixture.request(), never)
    // With a submodule nothing is kept.
    for (const edit of edits.filter(({ kind }) => kind !== 'submodule')) {
      await doEdit(fixture.repository, fixture.path, edit)
      const { kept, fresh } = await readBoth(fixture)
      expect(kept).toEqual(fresh)
    }
  })
  await fc.assert(property, { numRuns, interruptAfterTimeLimit: 15_000 + numRuns * 3_500 })
})

test('takes up only the files that have changed since the last read', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const { repository, path } = fixture
  await repository.write({ 'c.txt': 'c\n' }, path)
  await fixture.workspaces.diff(fixture.ref(), 'branch', null, never)
  const [first] = await keptIndexes(fixture)
  await repository.write({ 'd.txt': 'd\n' }, path)
  await rm(join(path, 'b.txt'))
  const { kept, fresh } = await readBoth(fixture)
  expect(kept).toEqual(fresh)
  expect(kept.files.map((file) => file.path)).toEqual(['c.txt', 'd.txt'])
  expect(await keptIndexes(fixture)).toEqual([first])
})

test('sees a change of the same size that left the times of the file as they were', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const file = join(fixture.path, 'b.txt')
  const now = new Date()
  for (const text of ['1\n', '2\n', '3\n']) {
    await writeFile(file, text)
    await utimes(file, now, now)
    const { kept } = await readBoth(fixture)
    expect(kept.patch).toContain(`\n+${text}`)
  }
})

test('leaves out a file once git ignores it, wherever that is said', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const { repository, path } = fixture
  await repository.write({ 'a.log': 'log\n', 'b.log': 'log\n', 'c.log': 'log\n' }, path)
  const shown = async () => (await readBoth(fixture)).kept.files.map((file) => file.path)
  expect(await shown()).toEqual(['a.log', 'b.log', 'b.txt', 'c.log'])
  await appendFile(join(repository.path, '.git', 'info', 'exclude'), 'a.log\n')
  expect(await shown()).toEqual(['b.log', 'b.txt', 'c.log'])
  await repository.write({ '.gitignore': 'b.log\n' }, path)
  expect(await shown()).toEqual(['.gitignore', 'b.txt', 'c.log'])
  const excludes = join(repository.beside, 'ignored')
  await writeFile(excludes, 'c.log\n')
  await repository.git(['config', 'core.excludesFile', excludes])
  expect(await shown()).toEqual(['.gitignore', 'b.txt'])
  await writeFile(excludes, '')
  expect(await shown()).toEqual(['.gitignore', 'b.txt', 'c.log'])
})

test('reads again what the repository converts differently now', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const { repository, path } = fixture
  await repository.write({ 'b.txt': 'b\r\n' }, path)
  await utimes(join(path, 'b.txt'), past, past)
  expect((await readBoth(fixture)).kept.patch).toContain('+b\r\n')
  await repository.git(['config', 'core.autocrlf', 'input'])
  const { kept, fresh } = await readBoth(fixture)
  expect(kept).toEqual(fresh)
  expect(kept.patch).not.toContain('\r')
})

test('reads again what a program converts that is trusted from now on', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const { repository, path } = fixture
  const program = 'tr a-z A-Z'
  await repository.git(['config', 'filter.upper.clean', program])
  await repository.write({ '.gitattributes': '*.up filter=upper\n', 'c.up': 'c\n' }, path)
  await utimes(join(path, 'c.up'), past, past)
  let programs = {}
  const workspaces = createWorkspaces({ dataDir: join(repository.beside, 'data'), trusted: () => programs })
  const patch = async () => (await workspaces.diff(fixture.ref(), 'branch', null, never)).patch
  expect(await patch()).toContain('\n+c\n')
  programs = { 'filter.upper.clean': program }
  expect(await patch()).toContain('\n+C\n')
})

test('two reads at once show the same, and leave one index', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  await fixture.repository.write({ 'c.txt': 'c\n' }, fixture.path)
  const { workspaces } = fixture
  const ref = fixture.ref()
  for (let round = 0; round < 2; round++) {
    const [diff, stat, other] = await Promise.all([
      workspaces.diff(ref, 'branch', null, never),
      workspaces.diffStat(ref, never),
      workspaces.diff(ref, 'uncommitted', null, never),
    ])
    expect(diff.tree).toBe(other.tree)
    expect(stat).toEqual({ files: 2, additions: 2, deletions: 0 })
  }
  expect(await keptIndexes(fixture)).toHaveLength(1)
})

test('a cancelled read keeps nothing', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const cancel = new AbortController()
  const read = fixture.workspaces.diffStat(fixture.ref(), { signal: cancel.signal })
  cancel.abort(new Error('Never mind.'))
  await expect(read).rejects.toThrow('Never mind.')
  expect(await keptIndexes(fixture)).toEqual([])
})

test('a read that is cancelled while it takes up changes leaves nothing', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const { repository, path, workspaces } = fixture
  await workspaces.diffStat(fixture.ref(), never)
  expect(await keptIndexes(fixture)).toHaveLength(1)
  const begun = join(repository.beside, 'begun')
  await writeFile(join(repository.path, '.git', 'info', 'attributes'), '*.slow filter=slow\n')
  await repository.git(['config', 'filter.slow.clean', `echo >> '${begun}'; sleep 1; cat`])
  await workspaces.diffStat(fixture.ref(), never)
  await repository.write({ 'a.slow': 'x\n' }, path)
  const cancel = new AbortController()
  const read = workspaces.diffStat(fixture.ref(), { signal: cancel.signal })
  await expect.poll(() => existsSync(begun)).toBe(true)
  cancel.abort(new Error('Never mind.'))
  await expect(read).rejects.toThrow('Never mind.')
  expect(await keptIndexes(fixture)).toEqual([])
})

test('a worktree that is removed takes its index along', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  await fixture.workspaces.diffStat(fixture.ref(), never)
  expect(await keptIndexes(fixture)).toHaveLength(1)
  const { repository, path } = fixture
  await fixture.workspaces.remove({ repo_path: repository.path, path, task_id: taskId }, never)
  expect(await keptIndexes(fixture)).toEqual([])
})

test('the next start removes what a service has kept', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  await fixture.workspaces.diffStat(fixture.ref(), never)
  expect(await keptIndexes(fixture)).toHaveLength(1)
  await fixture.workspaces.releaseStaleLocks(fixture.root)
  expect(await keptIndexes(fixture)).toEqual([])
})
