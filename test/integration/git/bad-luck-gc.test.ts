import { execFileSync } from 'node:child_process'
import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { branch, never, taskId, withWork, type WorkspaceFixture } from './workspace-fixture.ts'

/** From now on `git gc --prune=now` or `git worktree prune` runs before every command of the service. */
async function cleanBefore(
  { repository }: WorkspaceFixture,
  command: string,
): Promise<Disposable & { cleanings(): Promise<string[]> }> {
  const folder = join(repository.beside, 'bin')
  await mkdir(folder, { recursive: true })
  const counter = join(folder, 'count')
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  const clean = `env -u GIT_INDEX_FILE -u GIT_OBJECT_DIRECTORY ${git} -C '${repository.path}' ${command}`
  const quiet = '> /dev/null 2>&1 < /dev/null'
  // Of parallel commands only one can have a clean-up before it, because git refuses a second.
  const script = [
    '#!/bin/sh',
    `echo begun >> '${counter}'`,
    `if ${clean} ${quiet}; then echo done; else echo beside; fi >> '${counter}'`,
    `exec ${git} "$@"`,
  ].join('\n')
  await writeFile(join(folder, 'git'), script, { mode: 0o755 })
  const before = process.env['PATH'] ?? ''
  process.env['PATH'] = `${folder}${delimiter}${before}`
  const told = async () => {
    const words = (await readFile(counter, 'utf8')).split('\n')
    return {
      begun: words.filter((word) => word === 'begun').length,
      ended: words.filter((word) => word === 'done' || word === 'beside'),
    }
  }
  return {
    // A refused operation does not wait for its parallel commands, which may have been the cleaned-up ones.
    cleanings: async () => {
      const isOver = async () => {
        const { begun, ended } = await told()
        return begun === ended.length
      }
      await expect.poll(isOver).toBe(true)
      return (await told()).ended
    },
    [Symbol.dispose]: () => {
      process.env['PATH'] = before
    },
  }
}

/** Resolves with the result: a refusal is fine as long as nothing is lost. */
const attempt = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => 'done',
    (error: unknown) => {
      expect(error).toMatchObject({ name: 'WorkspaceError' })
      return 'refused'
    },
  )

const there = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** The uncommitted file, from the disk or from any ref. */
async function findWork({ repository, path }: WorkspaceFixture): Promise<string> {
  if (await there(join(path, 'c.txt'))) return await readFile(join(path, 'c.txt'), 'utf8')
  for (const ref of (await repository.git(['for-each-ref', '--format=%(refname)'])).split('\n')) {
    const found = await repository.git(['show', `${ref}:c.txt`]).catch(() => null)
    if (found !== null) return `${found}\n`
  }
  return 'lost'
}

const deeds: readonly (readonly [string, (fixture: WorkspaceFixture) => Promise<unknown>])[] = [
  [
    'a removal',
    ({ workspaces, repository, path }) =>
      workspaces.remove({ repo_path: repository.path, path, task_id: taskId }, never),
  ],
  ['a reset', ({ workspaces, path }) => workspaces.resetWorktree(path, taskId, never)],
  ['a commit', ({ workspaces, path }) => workspaces.commitAll(path, 'All\n', never)],
  ['a merge', ({ workspaces, mergeRequest }) => workspaces.merge(mergeRequest(), never)],
  ['a claim', ({ workspaces, request }) => workspaces.ensure(request({ expect: 'existing' }), never)],
]

test.each(
  ['gc --prune=now', 'worktree prune'].flatMap((command) => deeds.map(([name, deed]) => ({ command, name, deed }))),
)('survives git $command before each step of $name without loss', async ({ command, deed }) => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const { repository, path } = fixture
  await repository.commit('Meanwhile', { 'one.txt': '1\n' })
  await repository.write({ 'c.txt': 'uncommitted\n', 'staged.txt': 'staged\n' }, path)
  await repository.git(['add', 'staged.txt'], { cwd: path })
  const work = await repository.git(['rev-parse', branch])
  {
    using cleaning = await cleanBefore(fixture, command)
    await attempt(deed(fixture))
    const cleanings = await cleaning.cleanings()
    expect(cleanings.length).toBeGreaterThan(2)
    expect(cleanings).toContain('done')
  }
  expect(await findWork(fixture)).toBe('uncommitted\n')
  expect(await repository.git(['branch', '--contains', work, '--format=%(refname:short)'])).toContain(branch)
  expect(await repository.git(['fsck', '--full', '--no-dangling', '--no-progress'])).toBe('')
  expect(await repository.git(['status', '--porcelain'])).toBe('')
  // Whatever the result, it succeeds once nothing cleans up any more.
  await deed(fixture)
  expect(await findWork(fixture)).toBe('uncommitted\n')
})
