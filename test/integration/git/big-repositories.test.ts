import { constants, existsSync } from 'node:fs'
import { access, chmod, open, readFile, readdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { branch, createFixture, never, type WorkspaceFixture } from './workspace-fixture.ts'

const execute = promisify(execFile)

const many = (count: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, number) => [`src/${number % 7}/file-${number}.txt`, `${number}\n`]),
  )

test('writes all files of a big worktree as git would', async () => {
  await using fixture = await createFixture({ files: { ...many(300), run: '#!/bin/sh\n', '.gitignore': 'ignored\n' } })
  const { git } = fixture.repository
  await git(['update-index', '--chmod=+x', 'run'])
  await git(['commit', '--quiet', '-m', 'It runs'])
  await fixture.workspaces.ensure(fixture.request(), never)
  const plain = join(fixture.repository.beside, 'plain')
  await git(['worktree', 'add', '--quiet', '-b', 'plain', plain])
  await execute('diff', ['-r', '--exclude=.git', plain, fixture.path])
  const indexes = [plain, fixture.path].map((cwd) => git(['ls-files', '--stage'], { cwd }))
  const [expected, index] = await Promise.all(indexes)
  expect(index).toBe(expected)
  expect(await git(['status', '--porcelain', '--ignored'], { cwd: fixture.path })).toBe('')
  expect((await execute('stat', ['-c', '%A', join(fixture.path, 'run')])).stdout).toContain('x')
})

test('writes with several workers, or as many as configured, and fetches nothing', async () => {
  await using fixture = await createFixture({ files: many(300) })
  await fixture.repository.git(['remote', 'add', 'origin', join(fixture.repository.beside, 'nowhere')])
  const told = await traced(fixture, 'one')
  expect(told.match(/child_start\[\d+\] .*checkout--worker/g)?.length).toBeGreaterThan(1)
  expect(told).not.toMatch(/fetch|ls-remote/)
  await fixture.repository.git(['config', 'checkout.workers', '1'])
  expect(await traced(fixture, 'two')).not.toContain('checkout--worker')
})

test('does not block other worktrees of the repository during a long checkout', async () => {
  await using fixture = await slowBranch()
  const slow = fixture.workspaces.ensure(fixture.request({ base_branch: 'slow' }), never)
  await using gate = await open(join(fixture.repository.beside, 'begun'))
  expect((await gate.read()).bytesRead).toBeGreaterThan(0)
  const other = fixture.request({ path: join(fixture.root, 'other'), branch: 'other' })
  expect(await fixture.workspaces.ensure(other, never)).toMatchObject({ how: 'created' })
  expect(await fixture.workspaces.status(fixture.ref({ path: other.path, branch: 'other' }), never)).toMatchObject({
    dirty: false,
  })
  await writeFile(join(fixture.repository.beside, 'go'), 'go\n')
  expect(await slow).toMatchObject({ how: 'created' })
  expect(await readFile(join(fixture.path, 'big.slow'), 'utf8')).toBe('big\n')
})

test('leaves neither folder nor branch after a cancelled checkout', async () => {
  await using fixture = await slowBranch()
  const controller = new AbortController()
  const request = fixture.request({ base_branch: 'slow' })
  const slow = fixture.workspaces.ensure(request, { signal: controller.signal })
  await using gate = await open(join(fixture.repository.beside, 'begun'))
  await gate.read()
  controller.abort()
  await expect(slow).rejects.toMatchObject({ name: 'AbortError' })
  await expectNothingLeft(fixture)
  // The filter, which git has left alone, runs to its end; where it is gone, nothing waits for a reader.
  await using go = await open(join(fixture.repository.beside, 'go'), constants.O_RDWR | constants.O_NONBLOCK)
  await go.write('go\n')
})

test('leaves nothing after a failed checkout, says why, and succeeds when tried again', async () => {
  await using fixture = await createFixture({
    files: { '.gitattributes': '*.x filter=x\n', 'a.x': 'a\n', 'b.txt': 'b\n' },
  })
  await fixture.repository.git(['config', 'filter.x.smudge', 'false'])
  await fixture.repository.git(['config', 'filter.x.required', 'true'])
  await expect(fixture.workspaces.ensure(fixture.request(), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringMatching(/a\.x.*try again\. Nothing was left half done/s),
  })
  await expectNothingLeft(fixture)
  await fixture.repository.git(['config', 'filter.x.smudge', 'cat'])
  expect(await fixture.workspaces.ensure(fixture.request(), never)).toMatchObject({ how: 'created' })
})

test('leaves the branch that existed before a failed checkout', async () => {
  await using fixture = await createFixture({ files: { '.gitattributes': '*.x filter=x\n', 'a.x': 'a\n' } })
  await fixture.repository.git(['branch', branch])
  await fixture.repository.git(['config', 'filter.x.smudge', 'false'])
  await fixture.repository.git(['config', 'filter.x.required', 'true'])
  await expect(fixture.workspaces.ensure(fixture.request({ expect: 'existing' }), never)).rejects.toMatchObject({
    code: 'git_failed',
  })
  expect(existsSync(fixture.path)).toBe(false)
  expect(await fixture.repository.git(['rev-parse', branch])).toBe(await fixture.repository.git(['rev-parse', 'main']))
})

test('finds an existing worktree while the repository is busy with another', async () => {
  await using fixture = await createFixture()
  const { workspaces, repository } = fixture
  const made = await workspaces.ensure(fixture.request(), never)
  if (made.kind !== 'ready') throw new Error('No worktree was made.')
  const tip = await repository.commit('Work', { 'w.txt': 'w\n' }, fixture.path)
  // It blocks a change of refs, during which no other process may change any.
  await pipes(fixture)
  const once = `[ "$1" = prepared ] && mkdir '${join(repository.beside, 'once')}'`
  const hook = `#!/bin/sh\nif grep -q refs/heads/busy && ${once}; then ${waitAtGate(fixture)}; fi\n`
  await writeFile(join(repository.path, '.git/hooks/reference-transaction'), hook, { mode: 0o755 })
  const busy = workspaces.ensure(fixture.request({ path: join(fixture.root, 'busy'), branch: 'busy' }), never)
  await using gate = await open(join(repository.beside, 'begun'))
  await gate.read()
  const again = fixture.request({ expect: 'existing', known_base: made.base_commit })
  expect(await workspaces.ensure(again, never)).toEqual({ ...made, how: 'reused' })
  expect(await repository.git(['rev-parse', 'refs/worktree/svc-tip'], { cwd: fixture.path })).toBe(tip)
  await writeFile(join(repository.beside, 'go'), 'go\n')
  expect(await busy).toMatchObject({ how: 'created' })
})

test('keeps what an agent rewrote when its worktree is found without waiting', async () => {
  await using fixture = await createFixture()
  const made = await fixture.workspaces.ensure(fixture.request(), never)
  if (made.kind !== 'ready') throw new Error('No worktree was made.')
  const again = fixture.request({ expect: 'existing', known_base: made.base_commit })
  const lost = await fixture.repository.commit('Work', { 'w.txt': 'w\n' }, fixture.path)
  await fixture.workspaces.ensure(again, never)
  await fixture.repository.git(['reset', '--quiet', '--hard', 'HEAD~'], { cwd: fixture.path })
  await fixture.workspaces.ensure(again, never)
  expect(await fixture.repository.git(['for-each-ref', '--format=%(objectname)', 'refs/svc/rescue'])).toBe(lost)
})

test('copies installed packages with their commands and links', async () => {
  await using fixture = await createFixture({ files: { '.gitignore': 'node_modules/\n' } })
  const modules = join(fixture.repository.path, 'node_modules')
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, number) => [`pkg/lib/${number}.js`, `${number}\n`]))
  await fixture.repository.write({ ...files, 'pkg/cli.js': '#!/usr/bin/env node\n', '.bin/.keep': '' }, modules)
  await chmod(join(modules, 'pkg/cli.js'), 0o755)
  await symlink('../pkg/cli.js', join(modules, '.bin/cli'))
  await fixture.workspaces.ensure(fixture.request({ copy_files: ['node_modules'] }), never)
  await execute('diff', ['-r', '--no-dereference', modules, join(fixture.path, 'node_modules')])
  expect(await realpath(join(fixture.path, 'node_modules/.bin/cli'))).toBe(
    join(fixture.path, 'node_modules/pkg/cli.js'),
  )
  await access(join(fixture.path, 'node_modules/.bin/cli'), constants.X_OK)
  expect(await fixture.repository.git(['status', '--porcelain'], { cwd: fixture.path })).toBe('')
})

/** Git's own output while it creates a worktree on the branch `name`. */
async function traced(fixture: WorkspaceFixture, name: string): Promise<string> {
  const [trace, config] = ['trace', 'gitconfig'].map((kind) => join(fixture.repository.beside, `${kind}-${name}`))
  await writeFile(config ?? '', `[trace2]\n\tnormalTarget = ${trace ?? ''}\n`)
  const before = process.env['GIT_CONFIG_GLOBAL']
  process.env['GIT_CONFIG_GLOBAL'] = config
  try {
    await fixture.workspaces.ensure(fixture.request({ path: join(fixture.root, name), branch: name }), never)
  } finally {
    if (before === undefined) delete process.env['GIT_CONFIG_GLOBAL']
    else process.env['GIT_CONFIG_GLOBAL'] = before
  }
  return await readFile(trace ?? '', 'utf8')
}

/** A fixture with a branch `slow`: its checkout writes to the pipe `begun`, then waits for one at `go`. */
async function slowBranch(): Promise<WorkspaceFixture> {
  const fixture = await createFixture()
  const { git, commit } = fixture.repository
  await git(['switch', '--quiet', '-c', 'slow'])
  await commit('Big', { '.gitattributes': '*.slow filter=slow\n', 'big.slow': 'big\n', ...many(20) })
  await git(['switch', '--quiet', 'main'])
  await pipes(fixture)
  await git(['config', 'filter.slow.smudge', `${waitAtGate(fixture)}; cat`])
  return fixture
}

async function pipes({ repository }: WorkspaceFixture): Promise<void> {
  await execute('mkfifo', [join(repository.beside, 'begun'), join(repository.beside, 'go')])
}

const waitAtGate = ({ repository }: WorkspaceFixture): string =>
  `echo begun > '${join(repository.beside, 'begun')}'; read -r go < '${join(repository.beside, 'go')}'`

async function expectNothingLeft(fixture: WorkspaceFixture): Promise<void> {
  const { git, path } = fixture.repository
  expect(existsSync(fixture.path)).toBe(false)
  expect(await git(['for-each-ref', '--format=%(refname)', `refs/heads/${branch}`])).toBe('')
  expect((await git(['worktree', 'list', '--porcelain'])).match(/^worktree /gm)).toHaveLength(1)
  expect(await readdir(join(path, '.git', 'worktrees')).catch(() => [])).toEqual([])
}
