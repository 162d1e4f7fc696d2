import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../commands/run-git.ts'
import { baseRef, readRefs } from './arrivals-folder.ts'

/** Returns whether there are more packs than this: each push leaves one, and git looks for an object in all of them. */
export async function hasManyPacks(folder: string, limit: number): Promise<boolean> {
  return (await packsOf(folder)).length > limit
}

const packsOf = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(folder, 'objects', 'pack'))).filter((name) => name.endsWith('.pack'))

/**
 * Puts what the refs lead to into one pack and removes all others: snapshots that later ones replaced are gone then.
 * Only what the base leads to stays borrowed, because the repository may lose any other commit. Only while
 * nothing is fetched or pushed.
 */
export async function compact(git: Git, folder: string): Promise<void> {
  const before = await packsOf(folder)
  const refs = await readRefs(git)
  const base = refs.get(baseRef)
  const tips = [...new Set([...refs].filter(([ref]) => ref !== baseRef).map(([, id]) => id))]
  const input = [...tips, ...(base === undefined ? [] : [`^${base}`])].map((line) => `${line}\n`).join('')
  const pack = join(folder, 'objects', 'pack', 'pack')
  const args = ['pack-objects', '--quiet', '--revs', '--non-empty', '--delta-base-offset', pack]
  const { stdout } = await git(args, { access: 'write', input })
  const made = stdout.toString('latin1').trim()
  for (const name of before) {
    if (name === `pack-${made}.pack`) continue
    const path = join(folder, 'objects', 'pack', name.replace(/\.pack$/, ''))
    for (const end of ['idx', 'rev', 'pack']) await rm(`${path}.${end}`, { force: true })
  }
  await git(['pack-refs', '--all', '--prune'], { access: 'write' })
}
