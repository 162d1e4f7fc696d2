import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SecretUnreadableError, type SecretSeal } from '../../../src-main/platform/config/secret-seal.ts'
import { createSecretSeal } from '../../../src-main/desktop/secret-seal.ts'
import { loadSigningKey, rotateSigningKey } from '../../../src-main/identity/signing-key.ts'

async function dataFolder() {
  const path = await mkdtemp(join(tmpdir(), 'copse-key-'))
  const file = join(path, 'secrets', 'jwt.key')
  return { path, file, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** A keychain of its own, in Electron's shape. */
function keychain(backend: 'gnome_libsecret' | 'basic_text' = 'gnome_libsecret', isEncryptionAvailable = true) {
  const key = randomBytes(32)
  return {
    isEncryptionAvailable: () => isEncryptionAvailable,
    getSelectedStorageBackend: () => backend,
    encryptString: (text: string) => {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    decryptString: (sealed: Buffer) => {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
      decipher.setAuthTag(sealed.subarray(-16))
      return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8')
    },
  }
}

function sealOf(storage = keychain()): SecretSeal {
  const seal = createSecretSeal(storage, 'linux')
  if (!seal) throw new Error('There should be a seal.')
  return seal
}

test('has no seal without a keychain, or with one that everyone can open', () => {
  expect(createSecretSeal(keychain('gnome_libsecret', false), 'linux')).toBeNull()
  expect(createSecretSeal(keychain('basic_text'), 'linux')).toBeNull()
  expect(createSecretSeal(keychain('basic_text'), 'win32')).not.toBeNull()
})

test('seals a new key, keeps it, and reveals nothing in its file', async () => {
  await using data = await dataFolder()
  const seal = sealOf()
  const key = loadSigningKey(data.path, seal)
  expect([key.length, loadSigningKey(data.path, seal)]).toEqual([32, key])
  const kept = await readFile(data.file)
  expect([kept.includes(Buffer.from(key)), kept.includes(Buffer.from(key).toString('base64'))]).toEqual([false, false])
  expect((await stat(data.file)).mode & 0o777).toBe(0o600)
  expect(await readdir(join(data.path, 'secrets'))).toEqual(['jwt.key'])
})

test('seals an existing plain key and keeps it', async () => {
  await using data = await dataFolder()
  const key = loadSigningKey(data.path, null)
  expect(new Uint8Array(await readFile(data.file))).toEqual(key)
  const seal = sealOf()
  expect(loadSigningKey(data.path, seal)).toEqual(key)
  expect((await readFile(data.file)).includes(Buffer.from(key))).toBe(false)
  expect(loadSigningKey(data.path, seal)).toEqual(key)
})

test('refuses a sealed key without its keychain, and keeps it', async () => {
  await using data = await dataFolder()
  const seal = sealOf()
  const key = loadSigningKey(data.path, seal)
  expect(() => loadSigningKey(data.path, null)).toThrow(/sealed by the desktop app.*svc rotate-key/)
  expect(() => loadSigningKey(data.path, sealOf())).toThrow(/Unlock the keychain.*svc rotate-key/)
  expect(loadSigningKey(data.path, seal)).toEqual(key)
})

test('replaces a key of either kind, and a damaged one, on rotation', async () => {
  await using data = await dataFolder()
  const seal = sealOf()
  const first = loadSigningKey(data.path, seal)
  rotateSigningKey(data.path)
  const second = loadSigningKey(data.path, null)
  rotateSigningKey(data.path)
  const third = loadSigningKey(data.path, seal)
  expect(new Set([first, second, third].map((key) => Buffer.from(key).toString('hex'))).size).toBe(3)
  await writeFile(data.file, 'short')
  expect(() => loadSigningKey(data.path, null)).toThrow(SecretUnreadableError)
  rotateSigningKey(data.path)
  expect(loadSigningKey(data.path, null)).toHaveLength(32)
  expect((await stat(data.file)).mode & 0o777).toBe(0o600)
})
