import type { SafeStorage } from 'electron'
import type { SecretSeal } from '../platform/config/secret-seal.ts'

type Storage = Pick<
  SafeStorage,
  'isEncryptionAvailable' | 'getSelectedStorageBackend' | 'encryptString' | 'decryptString'
>

/**
 * Returns encryption by the system's keychain, or null without one. Without a keyring Chromium on Linux uses a
 * publicly known password, which protects no better than the file's mode.
 */
export function createSecretSeal(storage: Storage, platform: NodeJS.Platform): SecretSeal | null {
  if (!storage.isEncryptionAvailable()) return null
  if (platform === 'linux' && storage.getSelectedStorageBackend() === 'basic_text') return null
  return {
    seal: (secret) => new Uint8Array(storage.encryptString(Buffer.from(secret).toString('base64'))),
    open: (sealed) => new Uint8Array(Buffer.from(storage.decryptString(Buffer.from(sealed)), 'base64')),
  }
}
