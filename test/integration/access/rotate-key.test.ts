import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { lockDataDir } from '../../../src-main/platform/locks/single-instance.ts'
import { builtFile } from '../../helpers/built.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { runApp } from '../../helpers/running-app.ts'

const cli = await builtFile('cli.js')
const svc = (dataDir: string, ...rest: readonly string[]) =>
  promisify(execFile)(process.execPath, [cli, 'rotate-key', '--data-dir', dataDir, ...rest])

test('voids every access token, but no refresh or personal token', { timeout: 240_000 }, async () => {
  await using first = await runApp()
  const session = await first
    .clientWith(null)
    .call('auth.login', { email: 'owner@copse.test', password: 'correct horse' })
  const { token: pat } = await first.client.call('auth.create_token', { name: 'ci' })
  await first.app.close()
  const file = join(first.dataDir, 'secrets', 'jwt.key')
  const before = await readFile(file)
  expect((await svc(first.dataDir)).stdout).toContain('New signing key created.')
  expect([(await readFile(file)).equals(before), (await stat(file)).mode & 0o777]).toEqual([false, 0o600])
  expect(JSON.parse((await svc(first.dataDir, '--json')).stdout)).toEqual({ event: 'key_rotated' })
  await using again = await first.restart()
  expect(await refusalOf(again.clientWith(session.access_token).call('auth.me', {}))).toBe('invalid_token')
  expect((await again.clientWith(pat).call('auth.me', {})).handle).toBe('owner')
  const fresh = await again.clientWith(null).call('auth.refresh', { refresh_token: session.refresh_token })
  expect((await again.clientWith(fresh.access_token).call('auth.me', {})).handle).toBe('owner')
})

test('keeps the key under a running service', { timeout: 240_000 }, async () => {
  await using running = await runApp()
  using _ = lockDataDir(running.dataDir)
  const before = await readFile(join(running.dataDir, 'secrets', 'jwt.key'))
  await expect(svc(running.dataDir)).rejects.toMatchObject({ code: 1 })
  expect((await readFile(join(running.dataDir, 'secrets', 'jwt.key'))).equals(before)).toBe(true)
})
