import { realpathSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BoxRequest } from '../ports/containment.ts'
import { keepProblem, writtenIn } from './agent-homes.ts'
import { mountedAt, mountedLast, type BwrapCommand } from './bwrap-command.ts'
import { filteredIn } from './home.ts'

/** The home folders of a run as it sees them. */
export interface OpenHomes {
  /** Adds to a command what the run sees in the place of its home folders. */
  mounted(command: BwrapCommand): BwrapCommand
  /** Tells what the run wrote to its private home. */
  close(): Promise<void>
}

/** Prepares the homes of a run, the first of which is its own. Files for the run go into its temporary folder. */
export async function openHomes(
  { privateHome, onHomeWritten }: BoxRequest,
  homes: readonly string[],
  temporary: string,
): Promise<OpenHomes> {
  const before = new Set(privateHome === undefined ? [] : await writtenIn(privateHome))
  const own = homes.at(0)
  // On disk: an empty folder of the container would be memory.
  const folder = privateHome ?? join(temporary, '.home')
  if (privateHome === undefined) await mkdir(folder, { mode: 0o700 })
  const settings = await writeSettings(homes, join(temporary, '.settings'))
  return {
    mounted: (command) => {
      const bind = (home: string): readonly string[] => ['--bind', folder, realpathSync(home)]
      const atHome = own === undefined ? command : mountedAt(command, realpathSync(own), bind(own))
      return mountedLast(
        atHome,
        settings.flatMap(({ from, to }) => ['--ro-bind', from, to]),
      )
    },
    close: async () => {
      if (privateHome === undefined || onHomeWritten === undefined) return
      const written = (await writtenIn(privateHome)).filter((path) => !before.has(path) && keepProblem(path) === null)
      if (written.length > 0) onHomeWritten(written)
    },
  }
}

interface SettingsMount {
  readonly from: string
  readonly to: string
}

/** Writes the settings of package managers without keys, to be shown in the place of the real ones. */
async function writeSettings(homes: readonly string[], folder: string): Promise<readonly SettingsMount[]> {
  const files = homes.flatMap((home) => filteredIn(home))
  if (files.length > 0) await mkdir(folder, { mode: 0o700 })
  return await Promise.all(
    files.map(async ({ path, text }, index) => {
      const from = join(folder, String(index))
      await writeFile(from, text, { mode: 0o400 })
      return { from, to: path }
    }),
  )
}
