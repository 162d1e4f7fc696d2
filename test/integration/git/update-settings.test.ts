import { existsSync } from 'node:fs'
import { chmod, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { UpdateRequest } from '../../../src-main/ports/branch-updater.ts'
import { branch, never, taskId, withWork, type WorkspaceFixture } from './workspace-fixture.ts'

const update = (fixture: WorkspaceFixture, more: Partial<UpdateRequest> = {}) =>
  fixture.workspaces.updateBranch(
    {
      ...fixture.ref(),
      task_id: taskId,
      strategy: 'merge',
      message: `Merge main into ${branch}\n`,
      keep_message: 'Keep uncommitted work\n',
      on_conflict: 'report',
      ...more,
    },
    never,
  )
const inWorktree = (fixture: WorkspaceFixture, ...args: string[]) => fixture.repository.git(args, { cwd: fixture.path })

test.each<[string, Record<string, string>]>([
  ['signing', { 'commit.gpgSign': 'true', 'gpg.program': '/bin/false', 'user.signingKey': 'nobody' }],
  ['signatures that are asked for', { 'merge.verifySignatures': 'true' }],
  ['fast-forwards only', { 'merge.ff': 'only' }],
  ['stashing', { 'merge.autoStash': 'true', 'rebase.autoStash': 'true' }],
  ['old resolutions', { 'rerere.enabled': 'true', 'rerere.autoUpdate': 'true' }],
  ['another style of markers', { 'merge.conflictStyle': 'diff3' }],
])('updates a repository that is set to %s', async (_name, settings) => {
  await using fixture = await withWork({ 'a.txt': 'ours\n', 'one.txt': '1\n' })
  const { repository, path } = fixture
  for (const [key, value] of Object.entries(settings)) await repository.git(['config', key, value])
  await repository.commit('Meanwhile', { 'b.txt': 'b\n' }).catch(() => undefined)
  if ((await repository.git(['log', '-1', '--format=%s'])) !== 'Meanwhile') {
    await repository.git(['-c', 'commit.gpgSign=false', 'commit', '-qm', 'Meanwhile'])
  }
  expect((await update(fixture)).kind).toBe('updated')
  await repository.write({ 'a.txt': 'theirs\n' })
  await repository.git(['-c', 'commit.gpgSign=false', 'commit', '-qam', 'Conflict'])
  expect(await update(fixture, { on_conflict: 'leave' })).toMatchObject({
    kind: 'conflict',
    left: true,
    files: ['a.txt'],
  })
  await writeFile(join(path, 'a.txt'), 'both\n')
  expect((await update(fixture)).kind).toBe('updated')
  const recorded = await readdir(join(repository.path, '.git/rr-cache')).catch(() => [])
  expect(recorded).toEqual([])
  expect(await inWorktree(fixture, 'stash', 'list')).toBe('')
  expect((await fixture.workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
})

test('runs no hook of the repository', async () => {
  await using fixture = await withWork({ 'a.txt': 'ours\n' })
  const { repository, path } = fixture
  await repository.commit('Meanwhile', { 'a.txt': 'theirs\n' })
  await repository.write({ 'u.txt': 'u\n' }, path)
  const traces = join(repository.beside, 'traces')
  for (const name of [
    'pre-commit',
    'prepare-commit-msg',
    'commit-msg',
    'post-commit',
    'pre-merge-commit',
    'post-merge',
    'pre-rebase',
    'post-checkout',
    'post-rewrite',
  ]) {
    const hook = join(repository.path, '.git/hooks', name)
    await writeFile(hook, `#!/bin/sh\necho ${name} >> '${traces}'\nexit 1\n`)
    await chmod(hook, 0o755)
  }
  expect((await update(fixture, { on_conflict: 'leave' })).kind).toBe('conflict')
  await writeFile(join(path, 'a.txt'), 'both\n')
  expect((await update(fixture)).kind).toBe('updated')
  await repository.git(['-c', 'core.hooksPath=/dev/null', 'commit', '-q', '--allow-empty', '-m', 'More'])
  expect((await update(fixture, { strategy: 'rebase' })).kind).toBe('updated')
  expect((await fixture.workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect(existsSync(traces)).toBe(false)
})
