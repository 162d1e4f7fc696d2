import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync, watch } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { GitError } from '../../../../src-main/git/commands/git-error.ts'
import { readGit, runGit, splitNul } from '../../../../src-main/git/commands/run-git.ts'
import { createTestRepository } from '../../../helpers/git-repository.ts'
import { createFixture, never } from '../workspace-fixture.ts'

test('runs git untranslated, without prompts, editors and redirecting variables', async () => {
  await using repository = await createTestRepository()
  const wrong = { GIT_DIR: '/nowhere', GIT_INDEX_FILE: '/nowhere', EDITOR: 'false', SVC_SECRET_X: 's' }
  for (const [name, value] of Object.entries(wrong)) vi.stubEnv(name, value)
  try {
    await repository.git(['config', 'alias.environment', '!env'], {
      env: { GIT_DIR: undefined, GIT_INDEX_FILE: undefined },
    })
    const text = await readGit(repository.path, ['environment'], { ...never, env: { GIT_INDEX_FILE: '/given' } })
    const lines = text.split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        'LC_ALL=C',
        'GIT_TERMINAL_PROMPT=0',
        'GIT_OPTIONAL_LOCKS=0',
        'GIT_EDITOR=true',
        'GIT_INDEX_FILE=/given',
      ]),
    )
    expect(lines.filter((line) => /^(?:EDITOR|SVC_SECRET_X)=|^GIT_DIR=\/nowhere/.test(line))).toEqual([])
  } finally {
    vi.unstubAllEnvs()
  }
})

test('reports an undeclared exit code as failure with git’s message', async () => {
  await using repository = await createTestRepository()
  const failure = await runGit(repository.path, ['rev-parse', '--verify', 'nope'], never).catch(
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(GitError)
  expect(failure).toMatchObject({
    code: 'failed',
    exit_code: 128,
    message: 'git rev-parse failed: fatal: Needed a single revision',
  })
  const declared = await runGit(repository.path, ['rev-parse', '--verify', 'nope'], { ...never, accept: [128] })
  expect(declared.exit_code).toBe(128)
})

test('handles input, raw bytes and large output', async () => {
  await using repository = await createTestRepository()
  const bytes = Buffer.from([0, 0xff, 0xe9, 10, 0])
  const id = await readGit(repository.path, ['hash-object', '-w', '--stdin'], { ...never, input: bytes })
  expect((await runGit(repository.path, ['cat-file', 'blob', id], never)).stdout).toEqual(bytes)
  await expect(runGit(repository.path, ['cat-file', 'blob', id], { ...never, maxOutput: 4 })).rejects.toMatchObject({
    code: 'too_much_output',
  })
  expect(splitNul(Buffer.from('a\0b c\0\n\0'))).toEqual(['a', 'b c', '\n'])
})

test('reports a missing folder as its own failure', async () => {
  await expect(runGit('/surely/not/there', ['status'], never)).rejects.toMatchObject({ code: 'no_directory' })
})

test('starts nothing for a cancelled call', async () => {
  await using repository = await createTestRepository()
  const signal = AbortSignal.abort(new Error('no more'))
  await expect(runGit(repository.path, ['branch', 'made'], { signal })).rejects.toThrow('no more')
  expect(await repository.git(['branch', '--list', 'made'])).toBe('')
})

test('settles a cancelled command although its hook hangs, and frees the worktree', async () => {
  await using fixture = await createFixture()
  const { repository, path } = fixture
  const [gate, ready] = [join(repository.beside, 'gate'), join(repository.beside, 'pid')]
  const hook = join(repository.path, '.git/hooks/post-checkout')
  await writeFile(
    hook,
    `#!/bin/sh\nmkfifo '${gate}'\necho $$ > '${ready}.new'\nmv '${ready}.new' '${ready}'\nread x < '${gate}'\n`,
    {
      mode: 0o755,
    },
  )
  const controller = new AbortController()
  const watcher = watch(repository.beside, () => {
    if (existsSync(ready)) controller.abort()
  })
  await expect(fixture.workspaces.ensure(fixture.request(), { signal: controller.signal })).rejects.toMatchObject({
    name: 'AbortError',
  })
  watcher.close()
  await writeFile(gate, 'go on\n')
  await writeFile(hook, '#!/bin/sh\nexit 0\n')
  expect(await fixture.workspaces.ensure(fixture.request(), never)).toMatchObject({ kind: 'ready' })
  expect(await readFile(join(path, 'README.md'), 'utf8')).toBe('# Example\n')
})

test('keeps nothing of what a command was started with, soon after its end', async () => {
  await using repository = await createTestRepository()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const request = new AsyncLocalStorage<object>()
    const started = Array.from({ length: 3 }, () => new WeakRef({ large: 'request' }))
    await Promise.all(
      started.map((one) =>
        request.run(one.deref() ?? {}, () => readGit(repository.path, ['rev-parse', 'HEAD'], { ...never })),
      ),
    )
    await vi.advanceTimersByTimeAsync(60_000)
    await new Promise(setImmediate)
    globalThis.gc?.()
    expect(started.filter((one) => one.deref() !== undefined)).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})
