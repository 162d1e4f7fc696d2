import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PushError } from '../../../../src-main/ports/branch-pusher.ts'
import { createTestRepository } from '../../../helpers/git-repository.ts'
import { createPushFixture, never, token } from './push-fixture.ts'

const pushes = ({ url }: { readonly url: string }) => url.endsWith('/git-receive-pack')

test('pushes one commit to one branch: no tag, no other branch, and nothing here is changed', async () => {
  await using fixture = await createPushFixture()
  const { repository, server, name, first, work } = fixture
  await repository.git(['tag', '--annotate', '--message', 'v1', 'v1', 'task'])
  await repository.git(['branch', 'secret', 'task'])
  await repository.git(['switch', '--quiet', 'task'])
  await repository.commit('Not to be pushed', { 'later.txt': 'later\n' })
  await repository.git(['switch', '--quiet', 'main'])
  await repository.git(['remote', 'add', 'origin', fixture.url])
  await fixture.configure('[push]\n\tfollowTags = true\n\tdefault = matching\n\tpushOption = ci.skip\n')
  const before = await repository.git(['for-each-ref'])
  const result = await fixture.push({ remote: 'origin' })
  expect(result).toEqual({ before: null, after: work, hook: 'none' })
  expect(await server.refs(name)).toEqual({ 'refs/heads/main': first, 'refs/heads/task': work })
  expect(await repository.git(['for-each-ref'])).toBe(before)
  expect(await fixture.leftFiles()).toEqual([])
})

test('pushes a fast-forward under another name, and nothing that is there already', async () => {
  await using fixture = await createPushFixture()
  const { server, name, first, work } = fixture
  const change = { remote_branch: 'users/me/Äpfel' }
  expect(await fixture.push({ ...change, commit: first })).toEqual({ before: null, after: first, hook: 'none' })
  expect(await fixture.push(change)).toEqual({ before: first, after: work, hook: 'none' })
  expect(await server.refs(name)).toMatchObject({ 'refs/heads/users/me/Äpfel': work })
  const sent = server.requests.filter(pushes).length
  expect(await fixture.push(change)).toEqual({ before: work, after: work, hook: 'none' })
  expect(server.requests.filter(pushes)).toHaveLength(sent)
})

describe('a branch that has moved', () => {
  test('is not pushed over, whether its commit is here or not', async () => {
    await using fixture = await createPushFixture()
    const { server, name, first } = fixture
    const theirs = await fixture.pushByOthers('task', first)
    expect(await fixture.refusal()).toMatchObject({
      code: 'rejected',
      reason: 'moved',
      output: expect.stringContaining('fetch first') as unknown,
    })
    await fixture.pusher.fetch({ ...fixture.request(), into_ref: 'refs/copse/pulls/1' }, { signal: never })
    expect(await fixture.refusal()).toMatchObject({
      code: 'rejected',
      reason: 'moved',
      message: expect.stringContaining('task has moved at 127.0.0.1') as unknown,
    })
    expect(await server.refs(name)).toMatchObject({ 'refs/heads/task': theirs })
  })

  test('is replaced with a lease that holds, and with none that does not', async () => {
    await using fixture = await createPushFixture()
    const { server, name, first, work } = fixture
    const theirs = await fixture.pushByOthers('task', first)
    for (const expected of [first, work, null]) {
      expect(await fixture.refusal({ force: { expected } })).toMatchObject({ code: 'rejected', reason: 'moved' })
    }
    expect(await server.refs(name)).toMatchObject({ 'refs/heads/task': theirs })
    expect(await fixture.push({ force: { expected: theirs } })).toEqual({ before: theirs, after: work, hook: 'none' })
    expect(await fixture.push({ remote_branch: 'new', force: { expected: null } })).toMatchObject({ after: work })
  })

  test('is not pushed over if it moves at the last moment', async () => {
    await using fixture = await createPushFixture()
    const { server, name, first } = fixture
    await fixture.push({ commit: first })
    const theirs = await fixture.pushByOthers('other', first)
    await server.hook(name, 'pre-receive', `unset GIT_QUARANTINE_PATH\ngit update-ref refs/heads/task ${theirs}`)
    for (const force of [null, { expected: first }]) {
      expect(await fixture.refusal({ force })).toMatchObject({ code: 'rejected', reason: 'moved' })
      await server.git(name, ['update-ref', 'refs/heads/task', first])
    }
  })
})

test('looks whether the push arrived if the connection broke before the answer', async () => {
  await using fixture = await createPushFixture()
  fixture.server.dropsAnswer = pushes
  expect(await fixture.push()).toEqual({ before: null, after: fixture.work, hook: 'none' })
  await fixture.server.hook(fixture.name, 'pre-receive', 'exit 1')
  const { first } = fixture
  expect(await fixture.refusal({ commit: first, remote_branch: 'b' })).toMatchObject({ code: 'unreachable' })
})

test('tells what the branch is, when others push at once after it', async () => {
  await using fixture = await createPushFixture()
  const { server, name, first } = fixture
  const theirs = await fixture.pushByOthers('other', first)
  await server.hook(name, 'post-receive', `git update-ref refs/heads/task ${theirs}`)
  expect(await fixture.push()).toEqual({ before: null, after: theirs, hook: 'none' })
})

describe('repositories that are not whole', () => {
  test.each([
    ['shallow', ['--depth=1']],
    ['partial', ['--filter=blob:none', '--no-checkout']],
  ])('%s', async (_kind, options) => {
    await using fixture = await createPushFixture()
    const { server, name, repository, url } = fixture
    await server.git(name, ['config', 'uploadpack.allowFilter', 'true'])
    await fixture.pushByOthers('main', await server.git(name, ['rev-parse', 'main']))
    await fixture.pushByOthers('main', await server.git(name, ['rev-parse', 'main']))
    const path = join(repository.beside, 'clone')
    const withToken = url.replace('://', `://x:${token}@`)
    await repository.git(['clone', '--quiet', ...options, withToken, path])
    await repository.git(['switch', '--quiet', '--create', 'task'], { cwd: path })
    const work = await repository.commit('More', { 'more.txt': 'more\n' }, path)
    const result = await fixture.push({ repo_path: path, commit: work })
    expect(result).toEqual({ before: null, after: work, hook: 'none' })
    await server.git(name, ['fsck', '--connectivity-only', '--strict'])
    const theirs = await fixture.pushByOthers('task', work)
    const request = { ...fixture.request({ repo_path: path }), into_ref: 'refs/copse/pulls/1' }
    expect(await fixture.pusher.fetch(request, { signal: never })).toBe(theirs)
    expect(await repository.git(['rev-parse', 'refs/copse/pulls/1'], { cwd: path })).toBe(theirs)
  })

  test('with SHA-256', async () => {
    await using fixture = await createPushFixture()
    const path = join(fixture.repository.beside, 'sha256')
    await fixture.repository.git(['init', '--quiet', '--object-format=sha256', '--initial-branch=task', path])
    const work = await fixture.repository.commit('Work', { 'a.txt': 'a' }, path)
    await fixture.repository.git([
      'init',
      '--quiet',
      '--bare',
      '--object-format=sha256',
      join(fixture.server.root, 'long.git'),
    ])
    const url = `${fixture.server.url}/long.git`
    expect(await fixture.push({ repo_path: path, url, commit: work })).toMatchObject({ after: work })
  })
})

test('removes what a killed service left, and nothing else', async () => {
  await using fixture = await createPushFixture()
  const git = join(fixture.repository.path, '.git')
  const left = join(git, 'copse-transport-999999999-abc')
  const others = join(git, `copse-transport-${process.pid}-abc`)
  for (const folder of [left, others]) {
    await mkdir(folder)
    await writeFile(join(folder, 'config'), '')
  }
  await fixture.push()
  expect(await fixture.leftFiles()).toEqual([`copse-transport-${process.pid}-abc`])
})

test('says of a repository that is gone that it is', async () => {
  await using fixture = await createPushFixture()
  const gone = fixture.push({ repo_path: join(fixture.repository.beside, 'gone') })
  await expect(gone).rejects.toMatchObject({ name: 'WorkspaceError', code: 'repository_missing' })
  await expect(gone).rejects.not.toBeInstanceOf(PushError)
})

test('pushes from a worktree’s repository with odd names', async () => {
  await using repository = await createTestRepository({ name: `it's a "repo" $HOME` })
  await using fixture = await createPushFixture({ repository })
  expect(await fixture.push()).toMatchObject({ after: fixture.work })
})
