import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { commonDir } from '../commands/worktree.ts'
import { makeTemporary } from '../commands/temporary-folder.ts'

/** A repository of the service's own that borrows the objects of another one, so that nothing is written there. */
export interface ObjectFolder {
  readonly git_dir: string
  /** For git that writes into this folder; `GIT_DIR` stays the other repository's. */
  readonly env: Readonly<Record<string, string>>
  /** Calls `use` with an environment whose new objects are gone afterwards. */
  withThrowAway<T>(use: (env: Readonly<Record<string, string>>) => Promise<T>): Promise<T>
  remove(): Promise<void>
}

/** Where these folders lie, below Copse's data folder. */
export const overlapFolder = (dataDir: string): string => join(dataDir, 'overlaps')

export async function createObjectFolder(
  repo: string,
  group: string,
  dataDir: string | undefined,
  { signal }: Cancellable,
): Promise<ObjectFolder> {
  const real = join(await commonDir(repo, { signal }), 'objects')
  const git_dir =
    dataDir === undefined
      ? await makeTemporary('overlaps')
      : join(overlapFolder(dataDir), createHash('sha256').update(group).digest('hex').slice(0, 24))
  await rm(git_dir, { recursive: true, force: true })
  const objects = join(git_dir, 'objects')
  await mkdir(objects, { recursive: true, mode: 0o700 })
  await mkdir(join(git_dir, 'refs'))
  await writeFile(join(git_dir, 'HEAD'), 'ref: refs/heads/none\n')
  await writeFile(join(git_dir, 'config'), config)
  const borrowed = quoted(real)
  return {
    git_dir,
    env: { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: borrowed },
    withThrowAway: async (use) => {
      const folder = await mkdtemp(join(git_dir, 'run-'))
      try {
        return await use({
          GIT_OBJECT_DIRECTORY: folder,
          GIT_ALTERNATE_OBJECT_DIRECTORIES: `${quoted(objects)}:${borrowed}`,
        })
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
    remove: () => rm(git_dir, { recursive: true, force: true }),
  }
}

const config = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tlooseCompression = 0\n\tfsync = none\n'

const quoted = (path: string): string => `"${path.replaceAll(/["\\]/g, '\\$&')}"`
