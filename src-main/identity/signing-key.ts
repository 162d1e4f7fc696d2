import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SecretUnreadableError, type SecretSeal } from '../platform/config/secret-seal.ts'

const keyBytes = 32
/** Prefix of a sealed key's file; a plain one is the 32 bytes alone. */
const sealedMark = Buffer.from('copse sealed key 1\n')

const aNewKey = 'a new key with "svc rotate-key": everyone stays signed in by their refresh tokens.'

/**
 * Loads the key that signs access tokens: `{dataDir}/secrets/jwt.key`, created on first use, readable by its owner
 * only. With a seal it is stored sealed, and a plain one is sealed when found. Throws `SecretUnreadableError` if the
 * file can't be read as a key.
 */
export function loadSigningKey(dataDir: string, seal: SecretSeal | null): Uint8Array {
  const file = prepareFile(dataDir)
  if (!existsSync(file)) createKey(file, seal)
  chmodSync(file, 0o600)
  const kept = readFileSync(file)
  const isSealed = kept.subarray(0, sealedMark.length).equals(sealedMark)
  const key = isSealed ? openKey(file, kept.subarray(sealedMark.length), seal) : new Uint8Array(kept)
  if (key.length !== keyBytes) {
    throw new SecretUnreadableError(`${file} is damaged. Make ${aNewKey}`)
  }
  if (seal && !isSealed) renameSync(writeDraft(file, key, seal), file)
  return key
}

/**
 * Replaces the key, even a sealed or damaged one: tokens signed with the old one are void from the next start on. The
 * new key is plain until a start with a seal.
 */
export function rotateSigningKey(dataDir: string): void {
  const file = prepareFile(dataDir)
  renameSync(writeDraft(file, randomBytes(keyBytes), null), file)
}

function prepareFile(dataDir: string): string {
  const folder = join(dataDir, 'secrets')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  return join(folder, 'jwt.key')
}

function openKey(file: string, sealed: Uint8Array, seal: SecretSeal | null): Uint8Array {
  if (seal === null) {
    throw new SecretUnreadableError(
      `${file} was sealed by the desktop app with this system's keychain, which this start can't use. Start the desktop app, or make ${aNewKey}`,
    )
  }
  try {
    return seal.open(sealed)
  } catch (error) {
    const message = `${file} can't be opened with this system's keychain. Unlock the keychain and start again, or make ${aNewKey}`
    throw new SecretUnreadableError(message, { cause: error })
  }
}

function writeDraft(file: string, key: Uint8Array, seal: SecretSeal | null): string {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  const content = seal ? Buffer.concat([sealedMark, seal.seal(key)]) : key
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx' })
  return draft
}

/**
 * Writes to a temporary file and links it into place, so that a crash leaves no partial key and a concurrent start's
 * key wins.
 */
function createKey(file: string, seal: SecretSeal | null): void {
  const draft = writeDraft(file, randomBytes(keyBytes), seal)
  try {
    linkSync(draft, file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    rmSync(draft)
  }
}
