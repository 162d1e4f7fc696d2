import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../commands/run-git.ts'
import { isVisible, readRefs } from './arrivals-folder.ts'

/** Where a check finds the files of attributes that a pack names and a job may see; not part of the repository. */
export interface LentAttributes {
  /** An object folder. */
  readonly objects: string
  /** Lends those of all commits that the job may see, not of the newest alone. */
  lendAll(): Promise<void>
}

/**
 * Lends a check the `.gitattributes` files that a job may see. Git reads those that a pack's folders name, and refuses
 * the pack where one isn't there, as after every commit in a repository that has one.
 */
export async function lendAttributes(
  git: Git,
  { branch, to }: { readonly branch: string; readonly to: string },
): Promise<LentAttributes> {
  const refs = [...(await readRefs(git))].filter(([ref]) => isVisible(branch, ref))
  const input = [...new Set(refs.map(([, id]) => id))].map((id) => `${id}\n`).join('')
  await mkdir(join(to, 'pack'), { recursive: true })
  const lend = async (range: readonly string[]): Promise<void> => {
    const args = ['rev-list', '--objects', '--stdin', ...range, '--', ':(top,glob)**/.gitattributes']
    const { stdout } = await git(args, { input })
    const ids = stdout
      .toString('utf8')
      .split('\n')
      .flatMap((line) => (line.endsWith('.gitattributes') ? [`${line.split(' ', 1)[0]}\n`] : []))
    if (ids.length === 0) return
    await git(['pack-objects', '--quiet', join(to, 'pack', 'pack')], { access: 'write', input: ids.join('') })
  }
  if (input !== '') await lend(['--no-walk'])
  return { objects: to, lendAll: () => lend([]) }
}
