import { createHash } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import type { Tip } from '../../ports/target-mover.ts'
import { orNull } from '../files/file-errors.ts'
import { readPlainBytes } from '../files/plain-file.ts'

/** A commit with more is read by git. */
const maxBytes = 64 * 1024

/**
 * Returns the data of commits that each have a file of their own, as those just made do, without starting git. null if
 * one has none (it is packed or borrowed), its content is not what its ID says, or a shallow clone or a graft changes
 * parents: then git must be asked.
 */
export async function peekCommits(
  common: string,
  commits: readonly string[],
): Promise<ReadonlyMap<string, Tip> | null> {
  const [shallow, grafts, ...found] = await Promise.all([
    orNull(lstat(join(common, 'shallow'))),
    orNull(lstat(join(common, 'info', 'grafts'))),
    ...commits.map((commit) => peekCommit(common, commit)),
  ])
  const tips = found.filter((tip) => tip !== null)
  const isWhole = shallow === null && grafts === null && tips.length === commits.length
  return isWhole ? new Map(tips.map((tip) => [tip.commit, tip])) : null
}

async function peekCommit(common: string, commit: string): Promise<Tip | null> {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return null
  const file = join(common, 'objects', commit.slice(0, 2), commit.slice(2))
  const packed = await readPlainBytes(file, maxBytes)
  const content = packed === null ? null : inflate(packed)
  if (
    content === null ||
    createHash(commit.length === 40 ? 'sha1' : 'sha256')
      .update(content)
      .digest('hex') !== commit
  )
    return null
  const header = /^commit \d+\0tree ([0-9a-f]+)\n((?:parent [0-9a-f]+\n)*)author /.exec(content.toString('latin1'))
  if (header === null) return null
  const [, tree = '', parents = ''] = header
  const ids = parents.split('\n').filter(Boolean)
  return { commit, tree, parents: ids.map((line) => line.slice('parent '.length)) }
}

function inflate(bytes: Buffer): Buffer | null {
  try {
    return inflateSync(bytes, { maxOutputLength: maxBytes })
  } catch {
    return null
  }
}
