import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { orNull } from '../files/file-errors.ts'
import { runGit, splitNul } from '../commands/run-git.ts'

const maxNamed = 50
/** More are not looked at, as those of a dependency folder that was installed. */
const maxLooked = 5_000

/** See `WorkElsewhere.ignoredSince`. Wholly ignored folders count as one entry. */
export async function readIgnoredSince(
  path: string,
  since: number,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']
  const { stdout } = await runGit(path, args, { signal })
  const written: string[] = []
  for (const name of splitNul(stdout).slice(0, maxLooked)) {
    if (name === '.svc.lock') continue
    const found = await orNull(lstat(join(path, name)))
    if (found !== null && found.mtimeMs >= since) written.push(name)
    if (written.length === maxNamed) break
  }
  return written
}
