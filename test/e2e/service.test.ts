import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startBuiltService } from './harness/built-service.ts'

const cli = join(import.meta.dirname, '..', '..', 'dist', 'main', 'cli.js')

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A refused start, or a command that ends by itself. */
function svc(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [cli, ...args],
      { env: { ...process.env, ...env } },
      (_e, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'copse-e2e-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'prints the address of svc serve as JSON, answers, and ends with 0 on %s',
  async (signal) => {
    await using service = await startBuiltService()
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const health = await fetch(`${service.url}/healthz`)
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok', version: '0.1.0' }])
    const page = await fetch(service.url)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
    expect(await service.stop(signal)).toBe(0)
  },
)

test('ends a second start on the same data folder with 1, and names its holder', async () => {
  await using service = await startBuiltService()
  const second = await svc(['serve', '--port', '0', '--data-dir', service.dataDir])
  expect(second.code).toBe(1)
  expect(second.stderr.trim().split('\n')).toHaveLength(1)
  expect(second.stderr).toContain(`process ${service.pid}`)
})

test('takes the data folder over after kill -9', async () => {
  await using folder = await temporaryFolder()
  const killed = await startBuiltService({ dataDir: folder.path })
  await killed.stop('SIGKILL')
  await using again = await startBuiltService({ dataDir: folder.path })
  expect(again.pid).not.toBe(killed.pid)
  expect(await again.stop()).toBe(0)
})

test('reports a taken port in one line and ends with 1', async () => {
  await using service = await startBuiltService()
  await using folder = await temporaryFolder()
  const { port } = new URL(service.url)
  const second = await svc(['serve', '--port', port, '--data-dir', folder.path])
  expect(second).toMatchObject({ code: 1, stdout: '' })
  expect(second.stderr.trim().split('\n')).toEqual([expect.stringContaining(`Port ${port}`)])
})

test.each([
  ['SVC_PORT', 'abc'],
  ['SVC_PORT', '70000'],
  ['SVC_HOST', 'not a host'],
  ['SVC_HOST', '192.0.2.1'],
  ['SVC_BCRYPT_COST', '3'],
  ['SVC_REGISTRATION', 'maybe'],
  ['SVC_LOG_LEVEL', 'loud'],
  ['SVC_WORKSPACE_CLEANUP_DELAY_SECONDS', '-1'],
])('stops the start for %s=%s with one line that names it', async (name, value) => {
  await using folder = await temporaryFolder()
  const ended = await svc(['serve', '--data-dir', folder.path], { SVC_PORT: '0', [name]: value })
  expect(ended).toMatchObject({ code: 2, stdout: '' })
  expect(ended.stderr.trim().split('\n')).toEqual([expect.stringContaining(`${name}=`)])
})

test('stops the start for a data folder that is a file, with one line', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'taken')
  await writeFile(file, '')
  const ended = await svc(['serve', '--port', '0'], { SVC_DATA_DIR: file })
  expect(ended).toMatchObject({ code: 2, stdout: '' })
  expect(ended.stderr.trim().split('\n')).toEqual([expect.stringContaining('SVC_DATA_DIR=')])
})

test('treats a mistyped option as usage error, and prints the version', async () => {
  expect(await svc(['serve', '--prot', '1'])).toMatchObject({ code: 2, stdout: '' })
  expect(await svc(['--version'])).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' })
})
