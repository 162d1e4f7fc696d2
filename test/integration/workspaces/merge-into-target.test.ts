import { chmod, lstat, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFixture, branch, never } from './workspace-fixture.ts'
import type { WorkspaceFixture } from './workspace-fixture.ts'

/** Everything that a user could miss: files with contents, index, refs and HEAD of the checkout. */
async function everything({ repository }: WorkspaceFixture): Promise<unknown> {
  const files: Record<string, string> = {}
  for (const entry of await readdir(repository.path, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (path.includes('/.git') && !path.endsWith('.gitignore')) continue
    files[path] = entry.isDirectory() ? 'folder' : await readFile(path, 'utf8')
  }
  return {
    files,
    index: await repository.git(['ls-files', '--stage']),
    refs: await repository.git(['for-each-ref']),
    head: await repository.git(['rev-parse', '--abbrev-ref', 'HEAD']),
    status: await repository.git(['status', '--porcelain', '--ignored']),
  }
}

async function withWork(files: Record<string, string>, given: Record<string, string> = {}): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files: { 'README.md': '# Example\n', 'a.txt': 'a\n', ...given } })
  await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.repository.commit('Work on it', files, fixture.path)
  return fixture
}

const parentsOf = async ({ repository }: WorkspaceFixture, commit: string): Promise<number> =>
  (await repository.git(['rev-list', '--parents', '-n1', commit])).split(' ').length - 1

test('a merge makes a commit with two parents and the message, and the checkout follows', async () => {
  await using fixture = await withWork({ 'new/file.txt': 'new\n', 'a.txt': 'changed\n' })
  const { repository, workspaces } = fixture
  const message = 'Merge "Add a button"\n\nCopse-Task: 1\n'
  const result = await workspaces.merge(fixture.mergeRequest({ message }), never)
  const tip = await repository.git(['rev-parse', 'main'])
  expect(result).toEqual({ kind: 'merged', commit: tip })
  expect(await parentsOf(fixture, tip)).toBe(2)
  expect(await repository.git(['log', '-1', '--format=%B', 'main'])).toBe(`${message.trimEnd()}\n`)
  expect(await readFile(join(repository.path, 'new/file.txt'), 'utf8')).toBe('new\n')
  expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('changed\n')
  expect(await repository.git(['status', '--porcelain'])).toBe('')
  expect(await repository.git(['reflog', '-1', '--format=%gs', 'HEAD'])).toBe(`copse: merge ${branch}`)
})

test('a squash makes one commit with one parent out of many', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.commit('Second', { 'two.txt': '2\n' }, fixture.path)
  const before = await fixture.repository.git(['rev-parse', 'main'])
  const result = await fixture.workspaces.merge(fixture.mergeRequest({ strategy: 'squash' }), never)
  expect(result.kind).toBe('merged')
  expect(await fixture.repository.git(['rev-parse', 'main^'])).toBe(before)
  expect(await fixture.repository.git(['ls-tree', '-r', '--name-only', 'main'])).toBe(
    'README.md\na.txt\none.txt\ntwo.txt',
  )
})

test('a rebase lays the commits on top with their authors, dates and messages', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const { repository } = fixture
  await repository.write({ 'two.txt': '2\n' }, fixture.path)
  await repository.git(['add', '.'], { cwd: fixture.path })
  const env = {
    GIT_AUTHOR_NAME: 'Grace Ünsal',
    GIT_AUTHOR_EMAIL: 'g@example.test',
    GIT_AUTHOR_DATE: '1700000000 +0530',
  }
  await repository.git(['commit', '-q', '-m', 'Second ü\n\nWith a body.'], { cwd: fixture.path, env })
  await repository.commit('Meanwhile', { 'b.txt': 'b\n' })
  const before = await repository.git(['rev-parse', 'main'])
  expect((await fixture.workspaces.merge(fixture.mergeRequest({ strategy: 'rebase' }), never)).kind).toBe('merged')
  expect(await repository.git(['log', '--format=%P %an %ae %ad %B', '--date=raw', '-1', 'main'])).toBe(
    `${await repository.git(['rev-parse', 'main^'])} Grace Ünsal g@example.test 1700000000 +0530 Second ü\n\nWith a body.\n`,
  )
  expect(await repository.git(['rev-parse', 'main~2'])).toBe(before)
  expect(await repository.git(['status', '--porcelain'])).toBe('')
})

test('a rebase on an unchanged target only moves it forward', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const head = await fixture.repository.git(['rev-parse', branch])
  expect(await fixture.workspaces.merge(fixture.mergeRequest({ strategy: 'rebase' }), never)).toEqual({
    kind: 'merged',
    commit: head,
  })
})

test('a rebase leaves out what the target has already', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.git(['cherry-pick', branch])
  await fixture.repository.commit('Second', { 'two.txt': '2\n' }, fixture.path)
  await fixture.workspaces.merge(fixture.mergeRequest({ strategy: 'rebase' }), never)
  expect(await fixture.repository.git(['log', '--format=%s', 'main'])).toBe('Second\nWork on it\nFirst commit')
})

test('a rebase of a branch that resolved a merge itself keeps the resolution, in one commit', async () => {
  await using fixture = await withWork({ 'a.txt': 'ours\n' })
  const { repository } = fixture
  await repository.commit('Meanwhile', { 'a.txt': 'theirs\n' })
  await repository.git(['merge', 'main'], { cwd: fixture.path }).catch(() => undefined)
  await repository.commit('Resolve', { 'a.txt': 'both\n' }, fixture.path)
  await repository.commit('Meanwhile again', { 'b.txt': 'b\n' })
  expect((await fixture.workspaces.merge(fixture.mergeRequest({ strategy: 'rebase' }), never)).kind).toBe('merged')
  expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('both\n')
  expect(await parentsOf(fixture, 'main')).toBe(1)
})

test.each(['merge', 'squash', 'rebase'] as const)(
  'a conflict (%s) lists its files and changes nothing',
  async (strategy) => {
    await using fixture = await withWork(
      { 'a.txt': 'ours\n', 'ü b.txt': 'ours\n', 'fine.txt': 'f\n' },
      { 'ü b.txt': 'b\n' },
    )
    await fixture.repository.commit('Meanwhile', { 'a.txt': 'theirs\n', 'ü b.txt': 'theirs\n' })
    await fixture.repository.write({ 'a.txt': 'dirty too\n', 'untracked.txt': 'u\n' })
    const before = await everything(fixture)
    expect(await fixture.workspaces.merge(fixture.mergeRequest({ strategy }), never)).toEqual({
      kind: 'conflict',
      files: ['a.txt', 'ü b.txt'],
    })
    expect(await everything(fixture)).toEqual(before)
  },
)

test.each(['merge', 'squash', 'rebase'] as const)(
  'merging twice (%s) is merged twice, by the same commit',
  async (strategy) => {
    await using fixture = await withWork({ 'one.txt': '1\n' })
    await fixture.repository.commit('Meanwhile', { 'b.txt': 'b\n' })
    const first = await fixture.workspaces.merge(fixture.mergeRequest({ strategy }), never)
    expect(first.kind).toBe('merged')
    expect(await fixture.workspaces.merge(fixture.mergeRequest({ strategy }), never)).toEqual(first)
  },
)

test('what the user has changed elsewhere, staged or not, tracked or not, is as it was after the merge', async () => {
  await using fixture = await withWork(
    { 'one.txt': '1\n' },
    { 'b.txt': 'b\n', 'c.txt': 'c\n', '.gitignore': '*.log\n' },
  )
  const { repository } = fixture
  await repository.write({ 'b.txt': 'staged\n' })
  await repository.git(['add', 'b.txt'])
  await repository.write({
    'b.txt': 'staged and changed\n',
    'c.txt': 'changed\n',
    'u.txt': 'untracked\n',
    'x.log': 'ignored\n',
  })
  const before = await repository.git(['status', '--porcelain', '--ignored'])
  expect((await fixture.workspaces.checkTarget(fixture.ref(), never)).dirty).toEqual([])
  expect((await fixture.workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect(await repository.git(['status', '--porcelain', '--ignored'])).toBe(before)
  expect(await readFile(join(repository.path, 'b.txt'), 'utf8')).toBe('staged and changed\n')
  expect(await repository.git(['show', ':b.txt'])).toBe('staged')
  expect(await readFile(join(repository.path, 'one.txt'), 'utf8')).toBe('1\n')
})

test.each<[string, Record<string, string>, (fixture: WorkspaceFixture) => Promise<unknown>, string[]]>([
  ['a changed file', { 'a.txt': 'task\n' }, (f) => f.repository.write({ 'a.txt': 'user\n' }), ['a.txt']],
  [
    'a staged file',
    { 'a.txt': 'task\n' },
    async (f) => {
      await f.repository.write({ 'a.txt': 'user\n' })
      await f.repository.git(['add', 'a.txt'])
      await f.repository.write({ 'a.txt': 'a\n' })
    },
    ['a.txt'],
  ],
  ['a deleted file', { 'a.txt': 'task\n' }, (f) => rm(join(f.repository.path, 'a.txt')), ['a.txt']],
  ['an untracked file', { 'new.txt': 'task\n' }, (f) => f.repository.write({ 'new.txt': 'user\n' }), ['new.txt']],
  [
    'an ignored file',
    { 'x.env': 'task\n', '.gitignore': '' },
    (f) => f.repository.write({ 'x.env': 'user\n' }),
    ['x.env'],
  ],
  ['a file where a folder comes', { 'new/x.txt': 'task\n' }, (f) => f.repository.write({ new: 'user\n' }), ['new']],
  [
    'a folder where a file comes',
    { new: 'task\n' },
    (f) => f.repository.write({ 'new/x.env': 'user\n' }),
    ['new/x.env'],
  ],
])('%s of the user in the way stops the merge and nothing is changed', async (_name, work, dirty, files) => {
  await using fixture = await withWork(work, { '.gitignore': '*.env\n' })
  if ('x.env' in work) {
    await fixture.repository.git(['add', '--force', 'x.env'], { cwd: fixture.path })
    await fixture.repository.commit('Track it', {}, fixture.path)
  }
  await dirty(fixture)
  const before = await everything(fixture)
  expect(await fixture.workspaces.checkTarget(fixture.ref(), never)).toEqual({ dirty: files })
  expect(await fixture.workspaces.merge(fixture.mergeRequest(), never)).toEqual({ kind: 'target_dirty', files })
  expect(await everything(fixture)).toEqual(before)
})

test('an unfinished merge in the checkout is in the way of every merge', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const { repository } = fixture
  await repository.git(['switch', '-q', '-c', 'other'])
  await repository.commit('Other', { 'a.txt': 'other\n' })
  await repository.git(['switch', '-q', 'main'])
  await repository.commit('Mine', { 'a.txt': 'mine\n' })
  await repository.git(['merge', 'other']).catch(() => undefined)
  expect(await fixture.workspaces.merge(fixture.mergeRequest(), never)).toEqual({
    kind: 'target_dirty',
    files: ['a.txt'],
  })
})

test('a checkout on another branch is not touched at all', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.git(['switch', '-q', '-c', 'elsewhere'])
  await fixture.repository.write({ 'one.txt': 'mine\n' })
  const { refs: _before, ...before } = (await everything(fixture)) as { refs: string }
  expect((await fixture.workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  const { refs: _after, ...after } = (await everything(fixture)) as { refs: string }
  expect(after).toEqual(before)
})

test('a target checked out in another worktree is followed there', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.git(['switch', '-q', '-c', 'elsewhere'])
  const linked = join(fixture.repository.beside, 'linked main')
  await fixture.repository.git(['worktree', 'add', '-q', linked, 'main'])
  await fixture.workspaces.merge(fixture.mergeRequest(), never)
  expect(await readFile(join(linked, 'one.txt'), 'utf8')).toBe('1\n')
  expect(await fixture.repository.git(['status', '--porcelain'], { cwd: linked })).toBe('')
})

test('a target that moves while the merge is computed keeps what it was moved to', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const { repository } = fixture
  await repository.git(['switch', '-q', '-c', 'elsewhere'])
  // The first attempt to move main finds that somebody has moved it just before.
  await repository.git(['branch', 'next', 'main'])
  await repository.git(['switch', '-q', 'next'])
  const meanwhile = await repository.commit('Meanwhile', { 'b.txt': 'b\n' })
  const hook = join(repository.path, '.git/hooks/reference-transaction')
  const once = join(repository.path, '.git/moved-once')
  const move = `git update-ref refs/heads/main ${meanwhile}`
  await writeFile(
    hook,
    `#!/bin/sh\nread old new ref\n[ "$ref" = refs/heads/main ] && [ "$1" = prepared ] && [ ! -e '${once}' ] && { : > '${once}'; printf '%s\\n' ${meanwhile} > '${repository.path}/.git/refs/heads/main'; exit 1; }\nexit 0\n# ${move}\n`,
    { mode: 0o755 },
  )
  expect((await fixture.workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect(await repository.git(['merge-base', '--is-ancestor', meanwhile, 'main'])).toBe('')
  expect(await repository.git(['ls-tree', '--name-only', 'main'])).toBe('README.md\na.txt\nb.txt\none.txt')
})

test('when the files cannot follow after all, the branch moves back and the merge says so', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const { repository } = fixture
  // The user changes a file between the check and the following: as soon as the branch has moved.
  await writeFile(
    join(repository.path, '.git/hooks/reference-transaction'),
    `#!/bin/sh\nread old new ref\n[ "$ref" = refs/heads/main ] && [ "$1" = committed ] && printf 'user\\n' > '${join(repository.path, 'a.txt')}'\nexit 0\n`,
    { mode: 0o755 },
  )
  const before = await repository.git(['rev-parse', 'main'])
  expect(await fixture.workspaces.merge(fixture.mergeRequest(), never)).toEqual({
    kind: 'target_dirty',
    files: ['a.txt'],
  })
  expect(await repository.git(['rev-parse', 'main'])).toBe(before)
  expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('user\n')
  expect(await repository.git(['status', '--porcelain'])).toBe(' M a.txt')
})

test('a crash between moving the branch and the files is made good by the next merge', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n', 'a.txt': 'task\n' })
  const { repository } = fixture
  const from = await repository.git(['rev-parse', 'main'])
  const to = await repository.git(['rev-parse', branch])
  // What a service that was killed at that point leaves behind.
  await writeFile(
    join(repository.path, '.git/svc-pending-move.json'),
    JSON.stringify({ branch: 'main', from, to, checkouts: [repository.path] }),
  )
  await repository.git(['update-ref', 'refs/heads/main', to, from])
  await repository.write({ 'README.md': 'mine\n' })
  expect(await fixture.workspaces.merge(fixture.mergeRequest(), never)).toEqual({ kind: 'merged', commit: to })
  expect(await repository.git(['status', '--porcelain'])).toBe(' M README.md')
  expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('task\n')
  expect(await readFile(join(repository.path, 'one.txt'), 'utf8')).toBe('1\n')
})

test('another git command at work in the checkout is a failure in words, with nothing changed', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await writeFile(join(fixture.repository.path, '.git/index.lock'), '')
  const before = await fixture.repository.git(['for-each-ref'])
  await expect(fixture.workspaces.merge(fixture.mergeRequest(), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining('index.lock'),
  })
  expect(await fixture.repository.git(['for-each-ref'])).toBe(before)
})

test('work on another branch than the task is not passed over in silence', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.git(['switch', '-q', '-c', 'feature'], { cwd: fixture.path })
  await expect(fixture.workspaces.merge(fixture.mergeRequest(), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining('on feature instead of'),
  })
})

test('a merge works when the worktree is gone', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await rm(fixture.path, { recursive: true })
  expect((await fixture.workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  await using second = await withWork({ 'one.txt': '1\n' })
  expect((await second.workspaces.merge(second.mergeRequest({ path: null }), never)).kind).toBe('merged')
})

test('two merges into one target at once both arrive', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const other = fixture.request({ path: join(fixture.root, 'other'), branch: 'other' })
  await fixture.workspaces.ensure(other, never)
  await fixture.repository.commit('Other work', { 'two.txt': '2\n' }, other.path)
  const results = await Promise.all([
    fixture.workspaces.merge(fixture.mergeRequest(), never),
    fixture.workspaces.merge(fixture.mergeRequest({ branch: 'other', path: other.path }), never),
  ])
  expect(results.map(({ kind }) => kind)).toEqual(['merged', 'merged'])
  expect(await fixture.repository.git(['ls-files'])).toBe('README.md\na.txt\none.txt\ntwo.txt')
  expect(await fixture.repository.git(['status', '--porcelain'])).toBe('')
})

test('executable bits, links and deletions arrive in the checkout', async () => {
  await using fixture = await withWork({ 'run.sh': '#!/bin/sh\n' }, { 'gone/away.txt': 'x\n' })
  await chmod(join(fixture.path, 'run.sh'), 0o755)
  await rm(join(fixture.path, 'gone'), { recursive: true })
  await fixture.repository.commit('More', {}, fixture.path)
  await mkdir(join(fixture.repository.path, 'kept'))
  expect((await fixture.workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect((await lstat(join(fixture.repository.path, 'run.sh'))).mode & 0o111).not.toBe(0)
  expect((await readdir(fixture.repository.path)).sort()).toEqual(['.git', 'README.md', 'a.txt', 'kept', 'run.sh'])
})

test('branches that share no history are a failure in words', async () => {
  await using fixture = await createFixture()
  await fixture.repository.git(['checkout', '-q', '--orphan', branch])
  await fixture.repository.commit('Unrelated', { 'x.txt': 'x\n' })
  await fixture.repository.git(['switch', '-q', 'main'])
  await expect(fixture.workspaces.merge(fixture.mergeRequest({ path: null }), never)).rejects.toMatchObject({
    code: 'git_failed',
  })
})

test('a bare repository can be merged in', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const bare = join(fixture.repository.beside, 'bare.git')
  await fixture.repository.git(['clone', '-q', '--bare', fixture.repository.path, bare])
  const merged = await fixture.workspaces.merge(fixture.mergeRequest({ repo_path: bare, path: null }), never)
  expect(merged).toEqual({ kind: 'merged', commit: await fixture.repository.git(['rev-parse', 'main'], { cwd: bare }) })
})
