import { chmod, lstat, mkdir, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { changedPaths } from '../../../src-main/git/commands/tree-paths.ts'
import { moveBranch } from '../../../src-main/git/merge/move-branch.ts'
import { hasNoOverlap, readCheckouts } from '../../../src-main/git/merge/target-checkout.ts'
import { branch, createFixture, everything, never, withWork } from './workspace-fixture.ts'
import type { WorkspaceFixture } from './workspace-fixture.ts'

test('keeps what the user has changed elsewhere through a merge', async () => {
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
])('stops the merge and changes nothing when %s of the user is in the way', async (_name, work, dirty, files) => {
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

describe('a change that a flag hides from git', () => {
  const cases: readonly (readonly [string, 'skip-worktree' | 'assume-unchanged', string | null])[] = [
    ['a file', 'skip-worktree', 'mine\n'],
    ['a file', 'assume-unchanged', 'mine\n'],
    ['a deleted file', 'skip-worktree', null],
    ['a deleted file', 'assume-unchanged', null],
  ]
  test.each(cases)('stops the merge where it is in %s (%s)', async (_name, flag, content) => {
    await using fixture = await withWork({ 'a.txt': 'task\n', 'b.txt': 'task\n' }, { 'b.txt': 'b\n' })
    const { repository, workspaces } = fixture
    await repository.git(['update-index', `--${flag}`, 'a.txt'])
    if (content === null) await rm(join(repository.path, 'a.txt'))
    else await repository.write({ 'a.txt': content })
    expect(await repository.git(['status', '--porcelain'])).toBe('')
    const before = await everything(fixture)
    const files = ['a.txt']
    expect(await workspaces.checkTarget(fixture.ref(), never)).toEqual({ dirty: files })
    expect(await workspaces.merge(fixture.mergeRequest(), never)).toEqual({ kind: 'target_dirty', files })
    expect(await everything(fixture)).toEqual(before)
    expect(await workspaces.hiddenChanges(fixture.ref(), [...files, 'b.txt'], never)).toEqual([
      { path: 'a.txt', flag, checkout: repository.path },
    ])
    await repository.git(['update-index', `--no-${flag}`, 'a.txt'])
    await repository.git(['checkout', '--', 'a.txt'])
    expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  })

  test('does not stop one that leaves the file alone, or a flag without a change', async () => {
    await using fixture = await withWork({ 'one.txt': '1\n', 'b.txt': 'task\n' }, { 'b.txt': 'b\n' })
    const { repository, workspaces } = fixture
    await repository.git(['update-index', '--skip-worktree', 'a.txt', 'b.txt'])
    await repository.write({ 'a.txt': 'mine\n' })
    expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
    expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('mine\n')
    expect(await readFile(join(repository.path, 'b.txt'), 'utf8')).toBe('task\n')
    expect(await repository.git(['ls-files', '-v', 'a.txt'])).toBe('S a.txt')
  })

  test('is none of a file outside a sparse checkout', async () => {
    await using fixture = await withWork({ 'out/a.txt': 'task\n' }, { 'out/a.txt': 'a\n', 'in/b.txt': 'b\n' })
    await fixture.repository.git(['sparse-checkout', 'set', 'in'])
    expect((await fixture.workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
    expect(await fixture.repository.git(['status', '--porcelain'])).toBe('')
  })
})

test('stops every merge during an unfinished merge in the checkout', async () => {
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

describe('where the base is a symbolic ref', () => {
  test.each<[string, (fixture: WorkspaceFixture) => Promise<unknown>]>([
    ['the branch that it names', () => Promise.resolve()],
    ['it', ({ repository }) => repository.git(['symbolic-ref', 'HEAD', 'refs/heads/trunk'])],
    ['it, in packed refs', ({ repository }) => repository.git(['pack-refs', '--all'])],
  ])('updates a checkout of %s', async (_name, prepare) => {
    await using fixture = await withWork({ 'one.txt': '1\n' })
    const { repository, workspaces } = fixture
    await repository.git(['symbolic-ref', 'refs/heads/trunk', 'refs/heads/main'])
    await prepare(fixture)
    const request = fixture.mergeRequest({ base_branch: 'trunk' })
    await repository.write({ 'one.txt': 'mine\n' })
    expect(await workspaces.checkTarget(request, never)).toEqual({ dirty: ['one.txt'] })
    expect(await workspaces.merge(request, never)).toMatchObject({ kind: 'target_dirty' })
    await rm(join(repository.path, 'one.txt'))
    expect(await workspaces.merge(request, never)).toMatchObject({ kind: 'merged' })
    expect(await repository.git(['status', '--porcelain'])).toBe('')
    expect(await readFile(join(repository.path, 'one.txt'), 'utf8')).toBe('1\n')
    expect(await repository.git(['symbolic-ref', 'refs/heads/trunk'])).toBe('refs/heads/main')
  })

  test('merges for a task that was begun from it, and moves nothing that is no branch', async () => {
    await using fixture = await createFixture()
    const { repository, workspaces, path } = fixture
    await repository.git(['symbolic-ref', 'refs/heads/trunk', 'refs/heads/main'])
    await workspaces.ensure(fixture.request({ base_branch: 'trunk' }), never)
    await repository.commit('Mine', { 'mine.txt': 'mine\n' })
    await repository.commit('Work', { 'one.txt': '1\n' }, path)
    const ref = fixture.ref({ base_branch: 'trunk' })
    expect((await workspaces.diff(ref, 'branch', null, never)).files.map((file) => file.path)).toEqual(['one.txt'])
    const request = fixture.mergeRequest({ base_branch: 'trunk' })
    const onto = await repository.git(['rev-parse', 'main'])
    const prepared = await workspaces.prepareMerge({ ...request, onto }, never)
    if (prepared.kind !== 'prepared') throw new Error('The merge conflicts.')
    expect(await workspaces.moveTarget([{ request, prepared }], never)).toEqual({ kind: 'moved' })
    expect(await repository.git(['status', '--porcelain'])).toBe('')
    await repository.git(['update-ref', 'refs/remotes/origin/main', 'main'])
    await repository.git(['symbolic-ref', 'refs/heads/trunk', 'refs/remotes/origin/main'])
    await repository.commit('More', { 'two.txt': '2\n' }, path)
    await expect(workspaces.merge(request, never)).rejects.toThrow('is no branch')
  })
})

test('leaves a checkout on another branch alone', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.git(['switch', '-q', '-c', 'elsewhere'])
  await fixture.repository.write({ 'one.txt': 'mine\n' })
  const { refs: _before, ...before } = (await everything(fixture)) as { refs: string }
  expect((await fixture.workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  const { refs: _after, ...after } = (await everything(fixture)) as { refs: string }
  expect(after).toEqual(before)
})

test('updates a target that is checked out in another worktree', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.git(['switch', '-q', '-c', 'elsewhere'])
  const linked = join(fixture.repository.beside, 'linked main')
  await fixture.repository.git(['worktree', 'add', '-q', linked, 'main'])
  await fixture.workspaces.merge(fixture.mergeRequest(), never)
  expect(await readFile(join(linked, 'one.txt'), 'utf8')).toBe('1\n')
  expect(await fixture.repository.git(['status', '--porcelain'], { cwd: linked })).toBe('')
})

test('keeps a target where it was moved while the merge was computed', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const { repository } = fixture
  await repository.git(['switch', '-q', '-c', 'elsewhere'])
  // The first attempt to move main finds that it has just moved.
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

test('updates files although one was merely touched', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const { repository, workspaces } = fixture
  await utimes(join(repository.path, 'a.txt'), new Date(0), new Date(0))
  expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('task\n')
  expect(await repository.git(['status', '--porcelain'])).toBe('')
})

test('sees before the move what the user stages after a first look', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const { repository } = fixture
  const checkout = repository.path
  const [looked] = await readCheckouts([checkout], never)
  const from = await repository.git(['rev-parse', 'main'])
  const to = await repository.git(['rev-parse', branch])
  const changes = await changedPaths(checkout, from, to, never)
  expect(looked && hasNoOverlap(looked, changes)).toBe(true)
  await repository.write({ 'a.txt': 'staged\n' })
  await repository.git(['add', 'a.txt'])
  const untouched = new Map([[checkout, looked?.state ?? '']])
  const moves: string[] = []
  const onFollow = () => void moves.push('moved')
  const move = { repo: checkout, branch: 'main', from, to, reason: 'test', changes, checkouts: [checkout] }
  expect(await moveBranch({ ...move, untouched, onFollow })).toEqual({ kind: 'dirty', files: ['a.txt'] })
  expect(moves).toEqual([])
  expect(await repository.git(['rev-parse', 'main'])).toBe(from)
})

test.each(['merge', 'squash', 'rebase'] as const)(
  'keeps a user’s commit to the base during a %s, and lands the work on top',
  async (strategy) => {
    await using fixture = await withWork({ 'a.txt': 'task\n' }, { '.gitattributes': 'a.txt merge=slow\n' })
    const { repository, workspaces } = fixture
    const cwd = repository.path
    await repository.commit('Both change it', { 'a.txt': 'mine\n' })
    // While git merges that file, the user commits in the checkout, the first time only.
    const once = join(repository.beside, 'once')
    const commit = 'echo user > user.txt && git add user.txt && git commit -qm Mine && echo more > open.txt'
    const script = `[ -e '${once}' ] || { : > '${once}'; env -u GIT_DIR -u GIT_INDEX_FILE sh -c 'cd "${cwd}" && ${commit}'; } >&2\nprintf 'both\\n' > "$1"\n`
    const driver = join(repository.beside, 'driver.sh')
    await writeFile(driver, script)
    await repository.git(['config', 'merge.slow.driver', `sh '${driver}' %A`])
    expect((await workspaces.merge(fixture.mergeRequest({ strategy }), never)).kind).toBe('merged')
    expect(await repository.git(['log', '--format=%s', 'main'])).toContain('Mine')
    expect(await repository.git(['show', 'main:user.txt'])).toBe('user')
    expect(await repository.git(['show', 'main:a.txt'])).toBe('both')
    expect(await readFile(join(cwd, 'a.txt'), 'utf8')).toBe('both\n')
    expect(await repository.git(['status', '--porcelain'])).toBe('?? open.txt')
  },
)

test('moves the branch back when the files cannot follow, and says so', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const { repository } = fixture
  // The user changes a file after the check, as soon as the branch has moved.
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

test('reports a branch that can neither be followed nor moved back, and finishes with the next merge', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n', 'one.txt': '1\n' })
  const { repository, workspaces } = fixture
  const file = join(repository.path, 'a.txt')
  const hook = join(repository.path, '.git/hooks/reference-transaction')
  await writeFile(
    hook,
    `#!/bin/sh\nread old new ref\n[ "$ref" = refs/heads/main ] || exit 0\n` +
      `[ "$1" = committed ] && printf 'user\\n' > '${file}'\n` +
      `[ "$1" = prepared ] && grep -q user '${file}' && exit 1\nexit 0\n`,
    { mode: 0o755 },
  )
  await expect(workspaces.merge(fixture.mergeRequest(), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining('could not be moved back') as string,
  })
  expect(await readFile(file, 'utf8')).toBe('user\n')
  await rm(hook)
  await writeFile(file, 'a\n')
  expect(await workspaces.merge(fixture.mergeRequest(), never)).toMatchObject({ kind: 'merged' })
  expect(await repository.git(['status', '--porcelain'])).toBe('')
  expect(await readFile(file, 'utf8')).toBe('task\n')
  expect(await readFile(join(repository.path, 'one.txt'), 'utf8')).toBe('1\n')
})

test('repairs with the next merge a crash between moving the branch and the files', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n', 'a.txt': 'task\n' })
  const { repository } = fixture
  const from = await repository.git(['rev-parse', 'main'])
  const to = await repository.git(['rev-parse', branch])
  // The state that a service leaves when it is killed at that point.
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

test('reports another git command in the checkout, and changes nothing', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await writeFile(join(fixture.repository.path, '.git/index.lock'), '')
  const before = await fixture.repository.git(['for-each-ref'])
  await expect(fixture.workspaces.merge(fixture.mergeRequest(), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining('index.lock'),
  })
  expect(await fixture.repository.git(['for-each-ref'])).toBe(before)
})

test('updates executable bits, links and deletions in the checkout', async () => {
  await using fixture = await withWork({ 'run.sh': '#!/bin/sh\n' }, { 'gone/away.txt': 'x\n' })
  await chmod(join(fixture.path, 'run.sh'), 0o755)
  await rm(join(fixture.path, 'gone'), { recursive: true })
  await fixture.repository.commit('More', {}, fixture.path)
  await mkdir(join(fixture.repository.path, 'kept'))
  expect((await fixture.workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect((await lstat(join(fixture.repository.path, 'run.sh'))).mode & 0o111).not.toBe(0)
  expect((await readdir(fixture.repository.path)).sort()).toEqual(['.git', 'README.md', 'a.txt', 'kept', 'run.sh'])
})
