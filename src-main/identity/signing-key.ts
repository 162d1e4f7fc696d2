import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const keyBytes = 32

/**
 * The key that signs access tokens: `{dataDir}/secrets/jwt.key`, made on first use, readable by its
 * owner only. Throws when the file is there but is no such key.
 */
export function loadSigningKey(dataDir: string): Uint8Array {
  const folder = join(dataDir, 'secrets')
  const file = join(folder, 'jwt.key')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  if (!existsSync(file)) createKey(file)
  chmodSync(file, 0o600)
  const key = readFileSync(file)
  if (key.length !== keyBytes) {
    throw new Error(`${file} is damaged. Remove it and start again; everybody then has to sign in anew.`)
  }
  return new Uint8Array(key)
}

/** Replaces the key whole: what the old one has signed is void from the next start on. */
export function rotateSigningKey(dataDir: string): void {
  loadSigningKey(dataDir)
  const file = join(dataDir, 'secrets', 'jwt.key')
  renameSync(writeDraft(file), file)
}

function writeDraft(file: string): string {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, randomBytes(keyBytes), { mode: 0o600, flag: 'wx' })
  return draft
}

/** Written aside and linked into place, so that a crash leaves no half key and a rival's key wins whole. */
function createKey(file: string): void {
  const draft = writeDraft(file)
  try {
    linkSync(draft, file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    rmSync(draft)
  }
}
