import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { branch, createFixture, never, taskId, type WorkspaceFixture } from './workspace-fixture.ts'
import { requireFilesHere } from '../../../src-main/git/worktree/create-worktree.ts'
import { wholeLife } from './whole-life.ts'

type Prepare = (fixture: WorkspaceFixture) => Promise<void>

/** Configures a repository; each pair is a key and a value. */
const configured =
  (...settings: readonly (readonly [string, string])[]): Prepare =>
  async ({ repository }) => {
    for (const [key, value] of settings) await repository.git(['config', key, value])
  }

const oddities: readonly (readonly [string, Prepare])[] = [
  [
    'whose hooks all fail',
    async ({ repository }) => {
      for (const hook of [
        'post-checkout',
        'pre-commit',
        'commit-msg',
        'prepare-commit-msg',
        'post-commit',
        'post-merge',
      ]) {
        await writeFile(join(repository.path, '.git/hooks', hook), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
      }
    },
  ],
  [
    'that signs everything, with a key that nobody has',
    configured(
      ['commit.gpgSign', 'true'],
      ['tag.gpgSign', 'true'],
      ['gpg.program', 'false'],
      ['user.signingKey', 'none'],
    ),
  ],
  [
    'with a file system monitor that does not answer',
    configured(['core.fsmonitor', 'false; exit 1'], ['core.untrackedCache', 'true']),
  ],
  [
    'configured for many files',
    configured(
      ['feature.manyFiles', 'true'],
      ['core.splitIndex', 'true'],
      ['index.version', '4'],
      ['pack.threads', '1'],
    ),
  ],
  [
    'with a configuration of its own for each worktree',
    async ({ repository }) => {
      await repository.git(['config', 'extensions.worktreeConfig', 'true'])
      await repository.git(['config', '--worktree', 'core.worktree', repository.path])
    },
  ],
  [
    'whose shared configuration names its folder for all worktrees',
    configured(['extensions.worktreeConfig', 'true'], ['core.worktree', '..']),
  ],
  [
    'that writes its messages in another encoding',
    configured(['i18n.commitEncoding', 'ISO-8859-1'], ['i18n.logOutputEncoding', 'ISO-8859-1']),
  ],
  [
    'whose checkout is on no branch',
    async ({ repository }) => void (await repository.git(['switch', '--quiet', '--detach'])),
  ],
  [
    'whose checkout is on a branch without a commit',
    async ({ repository }) => void (await repository.git(['switch', '--quiet', '--orphan', 'unborn'])),
  ],
  [
    'with a tag of the name of each branch',
    async ({ repository }) => {
      const { git, commit } = repository
      await commit('Second', { 'second.txt': '2\n' })
      for (const name of ['main', branch]) await git(['tag', name, 'HEAD~'])
    },
  ],
]

describe.each(oddities)('a repository %s', (_name, prepare) => {
  test('has tasks as usual', async () => {
    await using fixture = await createFixture()
    await prepare(fixture)
    const head = () => readFile(join(fixture.repository.path, '.git/HEAD'), 'utf8')
    const before = await head()
    expect(await wholeLife(fixture)).toContain('task work.txt')
    expect(await head()).toBe(before)
    expect(await fixture.repository.git(['rev-list', '--objects', '--quiet', '--all'])).toBe('')
  })
})

test('keeps uncommitted files of the checkout when its configuration names its folder for all worktrees', async () => {
  await using fixture = await createFixture()
  const { repository, workspaces, path } = fixture
  await configured(['extensions.worktreeConfig', 'true'], ['core.worktree', repository.path])(fixture)
  await repository.write({ 'README.md': 'mine\n', 'new.txt': 'mine too\n' })
  await workspaces.ensure(fixture.request(), never)
  expect(await readFile(join(repository.path, 'README.md'), 'utf8')).toBe('mine\n')
  expect((await workspaces.diff(fixture.ref(), 'branch', null, never)).files).toEqual([])
  // A worktree of an older version, or one that was moved.
  await repository.git([
    'config',
    '--file',
    join(repository.path, '.git/worktrees', taskId, 'config.worktree'),
    'core.worktree',
    repository.path,
  ])
  await repository.write({ 'work.txt': 'done\n' }, path)
  expect(await workspaces.ensure(fixture.request(), never)).toMatchObject({ how: 'reused' })
  expect((await workspaces.diff(fixture.ref(), 'branch', null, never)).files).toHaveLength(1)
  expect(await readFile(join(repository.path, 'README.md'), 'utf8')).toBe('mine\n')
})

test('refuses a new worktree whose files git would write to another folder', async () => {
  await using fixture = await createFixture()
  const { repository, path } = fixture
  await repository.git(['config', 'extensions.worktreeConfig', 'true'])
  await repository.git(['worktree', 'add', '--quiet', '--no-checkout', path])
  await repository.git(['config', '--worktree', 'core.worktree', repository.path], { cwd: path })
  await expect(requireFilesHere(path, never)).rejects.toMatchObject({ code: 'outside_worktree' })
})

test('reads and writes messages in a repository with another encoding', async () => {
  await using fixture = await createFixture()
  const { repository, workspaces, path } = fixture
  await configured(['i18n.commitEncoding', 'ISO-8859-1'], ['i18n.logOutputEncoding', 'ISO-8859-1'])(fixture)
  await workspaces.ensure(fixture.request(), never)
  await repository.write({ 'work.txt': 'done\n', message: Buffer.from('Gr\u00fc\u00dfe\n', 'latin1') }, path)
  await repository.git(['add', 'work.txt'], { cwd: path })
  await repository.git(['commit', '--quiet', '-F', 'message'], { cwd: path })
  await rm(join(path, 'message'))
  expect((await workspaces.commits(fixture.ref(), never)).map(({ subject }) => subject)).toEqual(['Grüße'])
  for (const strategy of ['merge', 'squash', 'rebase'] as const) {
    await repository.commit(`Mine, ${strategy}`, { 'mine.txt': strategy })
    const start = await repository.git(['rev-parse', 'main'])
    const request = { ...fixture.mergeRequest(), strategy, message: 'Übernimm „ß“ 🌳\n' }
    expect(await workspaces.merge(request, never)).toMatchObject({ kind: 'merged' })
    const told = ['log', '-1', '--format=%s', '--encoding=UTF-8', 'main']
    expect(await repository.git(told)).toBe(strategy === 'rebase' ? 'Grüße' : 'Übernimm „ß“ 🌳')
    await repository.git(['reset', '--quiet', '--hard', start])
  }
})

test('works with spaces, emoji and line ends in paths', async () => {
  const files = { 'a\nb 🌱.txt': 'x\n', ' ü/ "q" \\.txt': 'y\n' }
  await using fixture = await createFixture({ name: ' my\nrepo 🌳', folder: 'work\nspaces 🍃 ', files })
  expect(await fixture.workspaces.inspect(join(fixture.repository.path, ' ü'), never)).toEqual({
    root: fixture.repository.path,
    name: ' my\nrepo 🌳',
    default_branch: 'main',
    branches: ['main'],
  })
  expect(await wholeLife(fixture)).toEqual([...Object.keys(files), 'task work.txt'].toSorted())
})

test('has tasks as usual with SHA-256 names', async () => {
  await using fixture = await createFixture()
  const { git, path } = fixture.repository
  await rm(join(path, '.git'), { recursive: true })
  await git(['init', '--quiet', '--initial-branch=main', '--object-format=sha256'])
  expect(await fixture.repository.commit('First', {})).toHaveLength(64)
  expect(await wholeLife(fixture)).toEqual(['README.md', 'task work.txt'])
})

test('runs a post-checkout hook once in a new worktree, whose failure does not stop the task', async () => {
  await using fixture = await createFixture()
  const seen = join(fixture.repository.beside, 'seen')
  const hook = `#!/bin/sh\necho "$PWD $*" >> '${seen}'\nexit 3\n`
  await writeFile(join(fixture.repository.path, '.git/hooks/post-checkout'), hook, { mode: 0o755 })
  await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.repository.git(['switch', '--quiet', '--detach'], { cwd: fixture.path }).catch(() => undefined)
  await writeFile(seen, (await readFile(seen, 'utf8')).split('\n', 1).join(''))
  await fixture.workspaces.ensure(fixture.request(), never)
  expect(await fixture.repository.git(['branch', '--show-current'], { cwd: fixture.path })).toBe(branch)
  const tip = await fixture.repository.git(['rev-parse', 'main'])
  expect(await readFile(seen, 'utf8')).toBe(`${fixture.path} ${'0'.repeat(40)} ${tip} 1`)
})

test('finds a project’s hooks folder, such as husky’s, from the worktree', async () => {
  await using fixture = await createFixture({ files: { '.husky/post-checkout': '#!/bin/sh\ntouch installed\n' } })
  await fixture.repository.git(['update-index', '--chmod=+x', '.husky/post-checkout'])
  await fixture.repository.git(['commit', '--quiet', '-m', 'It runs'])
  await fixture.repository.git(['config', 'core.hooksPath', '.husky'])
  await fixture.workspaces.ensure(fixture.request({ setup_commands: ['test -e installed'] }), never)
  expect(existsSync(join(fixture.path, 'installed'))).toBe(true)
})

describe('a bare repository', () => {
  test('has tasks as usual, and copies nothing of its own into them', async () => {
    await using fixture = await createFixture()
    const bare = join(fixture.repository.beside, 'bare.git')
    await fixture.repository.git(['clone', '--quiet', '--bare', fixture.repository.path, bare])
    const request = { repo_path: bare, copy_files: ['*', 'hooks', 'config'] }
    await fixture.workspaces.ensure(fixture.request(request), never)
    expect(await readdir(fixture.path)).toEqual(['.git', 'README.md'])
    expect(await wholeLife(fixture, request)).toEqual(['README.md', 'task work.txt'])
  })

  test('is found from all worktrees beside its folder .bare', async () => {
    await using fixture = await createFixture()
    const home = join(fixture.repository.beside, 'my app')
    await mkdir(home)
    await fixture.repository.git(['clone', '--quiet', '--bare', fixture.repository.path, join(home, '.bare')])
    await writeFile(join(home, '.git'), 'gitdir: ./.bare\n')
    await fixture.repository.git(['worktree', 'add', '--quiet', 'main'], { cwd: home })
    const expected = { root: join(home, '.bare'), name: 'my app', default_branch: 'main', branches: ['main'] }
    for (const place of [home, join(home, 'main'), join(home, '.bare')]) {
      expect(await fixture.workspaces.inspect(place, never)).toEqual(expected)
    }
    expect(await wholeLife(fixture, { repo_path: join(home, '.bare') })).toContain('task work.txt')
    expect(await readFile(join(home, 'main', 'task work.txt'), 'utf8')).toBe('done\n')
  })
})

test('has tasks in a project whose repository is a linked worktree, with its files', async () => {
  await using fixture = await createFixture({ files: { '.gitignore': '.env\n' } })
  const linked = join(fixture.repository.beside, 'linked')
  await fixture.repository.git(['worktree', 'add', '--quiet', '-b', 'side', linked])
  await fixture.repository.write({ '.env': 'HERE=1\n' }, linked)
  const request = { repo_path: linked, copy_files: ['.env'] }
  await fixture.workspaces.ensure(fixture.request(request), never)
  expect(await readFile(join(fixture.path, '.env'), 'utf8')).toBe('HERE=1\n')
  expect(await wholeLife(fixture, request)).toContain('task work.txt')
  expect(await fixture.repository.git(['branch', '--show-current'], { cwd: linked })).toBe('side')
})

test('has tasks in a project whose .git folder is elsewhere, and updates its checkout', async () => {
  await using fixture = await createFixture()
  const { git, path, beside } = fixture.repository
  await git(['init', '--quiet', '--separate-git-dir', join(beside, 'elsewhere.git')])
  expect(await fixture.workspaces.inspect(path, never)).toMatchObject({ root: path, name: 'repository' })
  expect(await wholeLife(fixture)).toContain('task work.txt')
  expect(await readFile(join(path, 'task work.txt'), 'utf8')).toBe('done\n')
})

test('has tasks in a project whose repository is a submodule', async () => {
  await using fixture = await createFixture()
  const outer = join(fixture.repository.beside, 'outer')
  const { git } = fixture.repository
  await git(['init', '--quiet', outer])
  const allowed = ['-c', 'protocol.file.allow=always']
  await git([...allowed, 'submodule', '--quiet', 'add', fixture.repository.path, 'inner'], { cwd: outer })
  const inner = join(outer, 'inner')
  expect(await fixture.workspaces.inspect(inner, never)).toMatchObject({ root: inner, name: 'inner' })
  expect(await wholeLife(fixture, { repo_path: inner })).toContain('task work.txt')
  expect(await readFile(join(inner, 'task work.txt'), 'utf8')).toBe('done\n')
})

test.skipIf(process.getuid?.() !== 0)('refuses another user’s repository and says what to do', async () => {
  await using fixture = await createFixture()
  await chown(fixture.repository.path, 12345, 12345)
  await chown(join(fixture.repository.path, '.git'), 12345, 12345)
  await expect(fixture.workspaces.inspect(fixture.repository.path, never)).rejects.toMatchObject({
    code: 'not_a_git_repository',
    message: expect.stringContaining(`git config --global --add safe.directory '${fixture.repository.path}'`),
  })
})

test('distinguishes a commit without a branch from no commit', async () => {
  await using fixture = await createFixture()
  await fixture.repository.git(['switch', '--quiet', '--detach'])
  await fixture.repository.git(['branch', '--quiet', '-D', 'main'])
  await expect(fixture.workspaces.inspect(fixture.repository.path, never)).rejects.toMatchObject({
    code: 'repository_has_no_commits',
    message: expect.stringContaining('git switch -c main'),
  })
})

test('refuses a branch that is checked out elsewhere, names the place and changes nothing', async () => {
  await using fixture = await createFixture()
  await fixture.repository.git(['switch', '--quiet', '-c', branch])
  await expect(fixture.workspaces.ensure(fixture.request({ expect: 'existing' }), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining(`The branch ${branch} is checked out in ${fixture.repository.path}.`),
  })
  expect(existsSync(fixture.path)).toBe(false)
  expect(await fixture.repository.git(['branch', '--show-current'])).toBe(branch)
})

test.each(['copse', `${branch}/more`])('names a branch %s that is in the way', async (name) => {
  await using fixture = await createFixture()
  await fixture.repository.git(['branch', name])
  await expect(fixture.workspaces.ensure(fixture.request(), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining(`beside the branch ${name}.`),
  })
  await fixture.repository.git(['branch', '-m', name, 'renamed'])
  expect(await wholeLife(fixture)).toContain('task work.txt')
})
