import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Stands in for the system's keychain; there is none without it. */
const keychain = Buffer.from(process.env['COPSE_STANDIN_KEYCHAIN'] ?? '', 'hex')

export const safeStorage = {
  isEncryptionAvailable: () => keychain.length === 32,
  getSelectedStorageBackend: () => (keychain.length === 32 ? 'gnome_libsecret' : 'basic_text'),
  encryptString(text: string): Buffer {
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', keychain, iv)
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), sealed])
  },
  decryptString(sealed: Buffer): string {
    const decipher = createDecipheriv('aes-256-gcm', keychain, sealed.subarray(0, 12))
    decipher.setAuthTag(sealed.subarray(12, 28))
    return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8')
  },
}
