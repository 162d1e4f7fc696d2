import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { findOnPath } from '../platform/process/find-on-path.ts'

/**
 * What package managers keep between builds below the home folder, and who keeps it; `null`: anybody. Not what they read
 * as settings, nor programs on the person's PATH, which lie beside it.
 */
const caches: readonly (readonly [folder: string, program: string | null])[] = [
  ['.cache', null],
  ['.npm', 'npm'],
  ['.pnpm-store', 'pnpm'],
  ['.local/share/pnpm/store', 'pnpm'],
  ['.yarn/cache', 'yarn'],
  ['.yarn/berry', 'yarn'],
  ['.bun/install/cache', 'bun'],
  ['.cargo/registry', 'cargo'],
  ['.cargo/git', 'cargo'],
  ['.gradle/caches', 'gradle'],
  ['.gradle/wrapper', 'gradle'],
  ['.gradle/daemon', 'gradle'],
  ['.gradle/native', 'gradle'],
  ['.m2/repository', 'mvn'],
  ['.nuget/packages', 'dotnet'],
  ['go/pkg', 'go'],
  ['Library/Caches', null],
]
/** Where such variables say that caches are. */
const variables = ['XDG_CACHE_HOME', 'GOCACHE', 'GOMODCACHE', 'UV_CACHE_DIR', 'PIP_CACHE_DIR', 'YARN_CACHE_FOLDER']

export const cachesIn = (homes: readonly string[]): readonly string[] => [
  ...homes.flatMap((home) => caches.map(([folder]) => join(home, folder))),
  ...variables.flatMap((name) => process.env[name] || []).filter(isAbsolute),
]

/** Makes the caches of the programs that are there: a run could not, since the rest of the home folder is read-only. */
export async function makeCaches(home = homedir()): Promise<void> {
  for (const [folder, program] of caches) {
    const path = join(home, folder)
    if (existsSync(path) || !isUsed(folder, program)) continue
    // A home that can't be written has none.
    await mkdir(path, { recursive: true }).catch(() => undefined)
  }
}

const isUsed = (folder: string, program: string | null): boolean =>
  program === null ? folder.startsWith('Library/') === (process.platform === 'darwin') : findOnPath(program) !== null
