import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const scripts = join(import.meta.dirname, '..', '..', '..', 'scripts')
const url = (name: string) => JSON.stringify(new URL(`../../../scripts/${name}`, import.meta.url).href)

interface Ended {
  readonly code: number | null
  readonly output: string
}

function run(code: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const args = ['--input-type=module', '-e', code]
    const child = execFile(process.execPath, args, { env: { ...process.env, ...env } }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, output: stdout + stderr }),
    )
  })
}

test('says in one line what to do if npm can’t reach its registry', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'copse-npm-'))
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  const code = `import { npm } from ${url('support/npm.mjs')}
    import { failWith } from ${url('support/project.mjs')}
    npm(['install', 'copse-has-no-such-package'], { cwd: ${JSON.stringify(folder)}, what: 'fetching' }).catch(failWith)`
  // Nothing listens on the discard port.
  const ended = await run(code, { npm_config_registry: 'http://127.0.0.1:9/', npm_config_cache: join(folder, 'cache') })
  await rm(folder, { recursive: true, force: true })
  expect(ended).toEqual({
    code: 1,
    output:
      'copse: fetching failed: npm could not reach its registry (ECONNREFUSED). Connect to the network (or set npm’s registry or proxy) and try again.\n',
  })
})

test('makes the second of two set-ups wait for the first, and says so', async () => {
  const name = `test-${process.pid}`
  const first = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { withLock } from ${url('support/lock.mjs')}
       await withLock('${name}', () => { console.log('in'); return new Promise((ok) => process.stdin.once('data', ok)) })
       console.log('out'); process.exit(0)`,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const firstEnd = once(first, 'exit')
  await once(first.stdout, 'data')
  const second = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { withLock } from ${url('support/lock.mjs')}
       await withLock('${name}', async () => console.log('turn'))`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const secondEnd = once(second, 'exit')
  const turn = once(second.stdout, 'data')
  expect(String((await once(second.stderr, 'data'))[0])).toContain(`another process (${first.pid}) is at "${name}"`)
  first.stdin.write('go')
  expect(String((await turn)[0]).trim()).toBe('turn')
  expect([(await firstEnd)[0], (await secondEnd)[0]]).toEqual([0, 0])
})

test('does not wait for a set-up that was killed', async () => {
  const name = `killed-${process.pid}`
  const code = `import { withLock } from ${url('support/lock.mjs')}
    await withLock('${name}', () => process.kill(process.pid, 'SIGKILL'))`
  await run(code)
  const next = await run(`import { withLock } from ${url('support/lock.mjs')}
    await withLock('${name}', async () => console.log('turn'))`)
  expect(next).toEqual({ code: 0, output: 'turn\n' })
})

test('keeps the exit code of a command, and passes signals on', async () => {
  const script = join(scripts, 'run.mjs')
  const failing = spawn(process.execPath, [script, 'node', '-e', 'process.exit(7)'], { stdio: 'ignore' })
  expect((await once(failing, 'exit'))[0]).toBe(7)

  const code = "process.on('SIGTERM', () => process.exit(9)); console.log('ready'); setInterval(() => {}, 1000)"
  const waiting = spawn(process.execPath, [script, 'node', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(waiting.stdout, 'data')
  waiting.kill('SIGTERM')
  expect((await once(waiting, 'exit'))[0]).toBe(9)
})

test('reports at the end what is thrown outside of tests, with its place', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'copse-outside-'))
  await mkdir(join(folder, 'test'))
  const body = `test('goes well', async () => {
    setImmediate(() => { throw new Error('late') })
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  })`
  await writeFile(join(folder, 'test', 'some.test.js'), body)
  const kept = join(folder, 'kept.json')
  const vitest = join(scripts, '..', 'node_modules', 'vitest', 'vitest.mjs')
  const reporter = join(scripts, 'outside-tests.mjs')
  const args = [vitest, 'run', '--root', folder, '--globals', `--reporter=${reporter}`]
  const env = { ...process.env, COPSE_OUTSIDE_TESTS: kept }
  const [code] = (await once(spawn(process.execPath, args, { cwd: folder, env, stdio: 'ignore' }), 'exit')) as [number]
  const lines = JSON.parse(await readFile(kept, 'utf8')) as readonly string[]
  await rm(folder, { recursive: true, force: true })
  expect(code).toBe(1)
  expect(lines).toEqual([
    expect.stringMatching(
      /^test\/some\.test\.js > goes well: Uncaught Exception: late \(.*\/test\/some\.test\.js:2:\d+\)$/,
    ),
  ])
})

test.runIf(process.platform !== 'win32')('ends what npm started once npm’s shell is gone', async () => {
  const code = `import { runAs } from ${url('support/child.mjs')}
    await runAs(process.execPath, ['-e', 'console.log(process.pid); process.on("SIGTERM", () => { console.log("ended"); process.exit() }); setInterval(() => {}, 1000)'])`
  // The shell stays above its command, as the one that npm starts does.
  const script = `"${process.execPath}" --input-type=module -e "$CODE"; true`
  const env = { ...process.env, CODE: code, npm_lifecycle_event: 'start' }
  const shell = spawn('sh', ['-c', script], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  for await (const chunk of shell.stdout) {
    lines.push(String(chunk).trim())
    if (lines.length === 1) shell.kill('SIGTERM')
  }
  expect(lines.at(-1)).toBe('ended')
})

test.runIf(process.platform === 'linux')(
  'says which tests are left out and how to get them, where nothing may be installed',
  async () => {
    const bin = await mkdtemp(join(tmpdir(), 'copse-bin-'))
    // A machine without apt's rights and without the programs.
    const code = `import { ensureTestTools } from ${url('test-tools.mjs')}
    process.getuid = () => 1000
    console.log(await ensureTestTools({ PATH: ${JSON.stringify(bin)} }))`
    const { output } = await run(code)
    await rm(bin, { recursive: true, force: true })
    expect(output).toContain(
      'the tests of contained runs (missing: bubblewrap, socat, curl). To run them: sudo apt-get install bubblewrap socat curl',
    )
  },
)
