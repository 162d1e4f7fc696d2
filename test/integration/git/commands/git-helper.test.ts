import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { readGit, runGit } from '../../../../src-main/git/commands/run-git.ts'
import { forkHelper } from '../../../../src-main/platform/process/helper-process.ts'
import { createGitHelper } from '../../../../src-main/git/process/git-helper.ts'
import { startGitBy } from '../../../../src-main/git/process/start-git.ts'
import { readProcess, readProcessTable } from '../../../../src-main/platform/process/process-table.ts'
import { createTestRepository, type TestRepository } from '../../../helpers/git-repository.ts'
import { projectRoot } from '../../../helpers/project-root.ts'
import { never } from '../workspace-fixture.ts'

afterEach(() => startGitBy())

type Options = Partial<Parameters<typeof createGitHelper>[0]>

/** Has a helper start git in a repository in which git tells who started it. */
async function open(options: Options = {}) {
  await using opened = new AsyncDisposableStack()
  const repository = opened.use(await createTestRepository())
  // The shell's parent is git.
  await repository.git(['config', 'alias.starter', `!ps -o ppid= -p $PPID`])
  const helper = createGitHelper({ begin: forkHelper, many: 0, ...options })
  opened.defer(() => helper.close())
  startGitBy(helper.start)
  const owned = opened.move()
  return { repository, helper, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const starterOf = async ({ path }: TestRepository): Promise<number> => Number(await readGit(path, ['starter'], never))

/** The helper's pid, once it starts git: what comes sooner does not wait for it. */
async function helperOf(repository: TestRepository): Promise<number> {
  for (;;) {
    const pid = await starterOf(repository)
    if (pid !== process.pid) return pid
  }
}

/** Has `git wait` wait until the gate is opened. */
async function makeGate(repository: TestRepository) {
  const path = join(repository.beside, 'gate')
  await repository.git(['config', 'alias.wait', `!mkfifo '${path}'; read line < '${path}'`])
  const watcher = watch(repository.beside)
  const reached = once(watcher, 'change').finally(() => watcher.close())
  return { reached, open: () => writeFileSync(path, 'go on\n') }
}

test('answers as the service itself does', async () => {
  await using opened = await open()
  const { path } = opened.repository
  await helperOf(opened.repository)
  const bytes = Buffer.from([0, 0xff, 0xe9, 10, 0])
  const id = await readGit(path, ['hash-object', '-w', '--stdin'], { ...never, input: bytes })
  expect((await runGit(path, ['cat-file', 'blob', id], never)).stdout).toEqual(bytes)
  await expect(runGit(path, ['rev-parse', '--verify', 'nope'], never)).rejects.toMatchObject({
    code: 'failed',
    exit_code: 128,
    message: 'git rev-parse failed: fatal: Needed a single revision',
  })
  await expect(runGit('/surely/not/there', ['status'], never)).rejects.toMatchObject({ code: 'no_directory' })
  vi.stubEnv('PATH', '/surely/not/there')
  try {
    await expect(runGit(path, ['status'], never)).rejects.toMatchObject({ code: 'not_installed' })
  } finally {
    vi.unstubAllEnvs()
  }
})

test('passes on more output than waits between the two, whole and in order', async () => {
  await using opened = await open()
  const { path } = opened.repository
  await helperOf(opened.repository)
  const text = Buffer.from(Array.from({ length: 1_500_000 }, (_, number) => `${number}\n`).join(''))
  const id = await readGit(path, ['hash-object', '-w', '--stdin'], { ...never, input: text })
  const { stdout } = await runGit(path, ['cat-file', 'blob', id], never)
  expect(stdout.equals(text)).toBe(true)
  let heard = 0
  const onOutput = (chunk: Buffer) => ((heard += chunk.length) > 100_000 ? 'enough' : 'more')
  await runGit(path, ['cat-file', 'blob', id], { ...never, onOutput })
  expect(heard).toBeLessThan(text.length)
  await expect(runGit(path, ['cat-file', 'blob', id], { ...never, maxOutput: 4 })).rejects.toMatchObject({
    code: 'too_much_output',
  })
})

test('ends a cancelled command', async () => {
  await using opened = await open()
  const { repository } = opened
  const file = join(repository.beside, 'pid')
  await repository.git(['config', 'alias.hang', `!echo $PPID > '${file}'; exec sleep 600`])
  await helperOf(repository)
  const stop = new AbortController()
  const watcher = watch(repository.beside, () => {
    if (existsSync(file)) stop.abort(new Error('no more'))
  })
  await expect(runGit(repository.path, ['hang'], { signal: stop.signal })).rejects.toThrow('no more')
  watcher.close()
  const rest = await runGit(repository.path, ['rev-parse', 'HEAD'], never)
  expect(rest.exit_code).toBe(0)
})

test('begins with many commands, and ends when none come', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    await using opened = await open({ many: 3, idleMs: 60_000 })
    const { repository } = opened
    const first = [await starterOf(repository), await starterOf(repository), await starterOf(repository)]
    expect(first).toEqual([process.pid, process.pid, process.pid])
    const pid = await helperOf(repository)
    await vi.advanceTimersByTimeAsync(59_000)
    expect(await readProcess(pid)).not.toBeNull()
    await vi.advanceTimersByTimeAsync(1_000)
    await opened.helper.close()
    expect(await readProcess(pid)).toBeNull()
    expect(await starterOf(repository)).toBe(process.pid)
  } finally {
    vi.useRealTimers()
  }
})

test('does without a helper that cannot be started', async () => {
  let asked = 0
  const begin = () => {
    asked += 1
    throw new Error('EAGAIN')
  }
  await using opened = await open({ begin })
  for (let round = 0; round < 3; round += 1) expect(await starterOf(opened.repository)).toBe(process.pid)
  expect(asked).toBe(1)
})

test('leaves a command without an outcome when it is killed, and the next ones to the service, and says so', async () => {
  const warn = vi.fn()
  await using opened = await open({ log: { warn } })
  const { repository } = opened
  const gate = await makeGate(repository)
  const pid = await helperOf(repository)
  const running = runGit(repository.path, ['wait'], never)
  running.catch(() => undefined)
  await gate.reached
  process.kill(pid, 'SIGKILL')
  await expect(running).rejects.toMatchObject({ code: 'failed', exit_code: null })
  expect(warn).toHaveBeenCalledExactlyOnceWith({ commands: 1 }, expect.stringContaining('helper'))
  gate.open()
  for (let round = 0; round < 3; round += 1) expect(await starterOf(repository)).toBe(process.pid)
})

test('answers what it runs when it is closed', async () => {
  const warn = vi.fn()
  await using opened = await open({ log: { warn } })
  const { repository, helper } = opened
  const gate = await makeGate(repository)
  await helperOf(repository)
  const running = runGit(repository.path, ['wait'], never)
  running.catch(() => undefined)
  await gate.reached
  await helper.close()
  await expect(running).rejects.toMatchObject({ code: 'failed', exit_code: null })
  expect(warn).not.toHaveBeenCalled()
  gate.open()
})

test('is gone when the service is killed', async () => {
  const source = (path: string): string => JSON.stringify(join(projectRoot, 'src-main', path))
  const service = spawn(process.execPath, [
    '--input-type=module',
    '--eval',
    `import { forkHelper } from ${source('platform/process/helper-process.ts')}
     const listeners = { onMessage: () => console.log('ready'), onEnd: () => undefined }
     forkHelper(${source('git-helper.ts')}, listeners).hold(true)`,
  ])
  await once(service.stdout, 'data')
  const children = (await readProcessTable()).filter(({ ppid }) => ppid === service.pid)
  expect(children).toHaveLength(1)
  service.kill('SIGKILL')
  const left = async () =>
    (await Promise.all(children.map(({ pid }) => readProcess(pid)))).filter((row) => row !== null)
  await expect.poll(left).toEqual([])
})
