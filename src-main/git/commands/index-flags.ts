import { readPlainBytes } from '../files/plain-file.ts'

/** A longer index is read by git. */
const maxBytes = 16 * 1024 * 1024
const hashBytes = 20
const headerBytes = 12
/** An entry's times, numbers and hash, up to its flags. */
const flagsAt = 60
const modeAt = 24
const assumeUnchanged = 0x8000
const extended = 0x4000
const skipWorktree = 0x4000
const maxNameLength = 0xfff
const modes: ReadonlySet<number> = new Set([0o100644, 0o100755, 0o100664, 0o120000, 0o160000])

/**
 * Returns whether an index surely marks no file as `assume-unchanged` or `skip-worktree`, without starting git. false
 * if it marks some, and for an index of another form than most (version 4, split, sparse, SHA-256): then git must be
 * asked.
 */
export async function hasNoFlags(index: string): Promise<boolean> {
  const bytes = await readPlainBytes(index, maxBytes)
  if (bytes === null || bytes.length < headerBytes + hashBytes || bytes.toString('latin1', 0, 4) !== 'DIRC')
    return false
  if (![2, 3].includes(bytes.readUInt32BE(4))) return false
  const end = endOfEntries(bytes)
  return end !== null && hasPlainExtensions(bytes, end)
}

/** null if an entry has a flag, or is not of this form. */
function endOfEntries(bytes: Buffer): number | null {
  const last = bytes.length - hashBytes
  let at = headerBytes
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    if (at + flagsAt + 4 > last || !modes.has(bytes.readUInt32BE(at + modeAt))) return null
    const flags = bytes.readUInt16BE(at + flagsAt)
    const isExtended = (flags & extended) !== 0
    if ((flags & assumeUnchanged) !== 0) return null
    if (isExtended && (bytes.readUInt16BE(at + flagsAt + 2) & skipWorktree) !== 0) return null
    const nameAt = at + flagsAt + (isExtended ? 4 : 2)
    const length = flags & maxNameLength
    const nameEnd = length < maxNameLength ? nameAt + length : bytes.indexOf(0, nameAt)
    if (nameEnd < 0 || nameEnd >= last || bytes[nameEnd] !== 0) return null
    // One to eight zeros end an entry, so that its length is a multiple of eight.
    at += (nameEnd - at + 8) & ~7
  }
  return at
}

/** Returns whether what follows the entries is understood: git may not skip an extension with a small first letter. */
function hasPlainExtensions(bytes: Buffer, from: number): boolean {
  const last = bytes.length - hashBytes
  let at = from
  while (at + 8 <= last) {
    if (!/^[A-Z]{4}$/.test(bytes.toString('latin1', at, at + 4))) return false
    at += 8 + bytes.readUInt32BE(at + 4)
  }
  return at === last
}
