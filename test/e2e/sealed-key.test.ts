import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startBuiltService } from './harness/built-service.ts'
import { startDesktop } from './harness/electron-standin/start-desktop.ts'

const svc = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [join(import.meta.dirname, '..', '..', 'dist', 'main', 'cli.js'), ...args])

test('seals the signing key with the keychain, explains a start without it, and accepts a new key', async () => {
  await using cleanup = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'copse-sealed-'))
  cleanup.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const dataDir = join(folder, 'data')
  const file = join(dataDir, 'secrets', 'jwt.key')
  const env = { SVC_DATA_DIR: dataDir, COPSE_STANDIN_KEYCHAIN: randomBytes(32).toString('hex') }
  const look = async () => {
    const kept = await readFile(file)
    return { isSealed: kept.toString('latin1').startsWith('copse sealed key 1'), mode: (await stat(file)).mode & 0o777 }
  }

  // The desktop app seals a key that a start without a keychain has created.
  await (await startBuiltService({ dataDir }))[Symbol.asyncDispose]()
  const plain = await readFile(file)
  expect([plain.length, (await look()).mode]).toEqual([32, 0o600])
  for (const round of ['sealing', 'opening']) {
    await using desktop = await startDesktop({ env })
    await desktop.page.waitForSelector('#app > *')
    expect(await desktop.page.evaluate("window.copse.call('system.get', {})"), round).toMatchObject({ ok: true })
    expect(await look()).toEqual({ isSealed: true, mode: 0o600 })
    expect((await readFile(file)).includes(plain)).toBe(false)
  }

  const refused = await svc('serve', '--port', '0', '--data-dir', dataDir).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('was sealed by the desktop app') as string })
  expect((await svc('rotate-key', '--data-dir', dataDir)).stdout).toContain('New signing key created.')
  expect(await look()).toEqual({ isSealed: false, mode: 0o600 })
  await (await startBuiltService({ dataDir }))[Symbol.asyncDispose]()
})
