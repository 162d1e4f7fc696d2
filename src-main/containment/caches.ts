import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { findOnPath } from '../platform/process/find-on-path.ts'

/**
 * Caches of package managers below the home folder, with the program that owns each; `null`: several. Excludes
 * settings, and programs on the user's PATH, which lie beside caches.
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
/** Variables that move caches elsewhere. */
const variables = ['XDG_CACHE_HOME', 'GOCACHE', 'GOMODCACHE', 'UV_CACHE_DIR', 'PIP_CACHE_DIR', 'YARN_CACHE_FOLDER']

export const cachesIn = (homes: readonly string[]): readonly string[] => [
  ...homes.flatMap((home) => caches.map(([folder]) => join(home, folder))),
  ...variables.flatMap((name) => process.env[name] || []).filter(isAbsolute),
]

/** Creates the caches of the installed programs, because a run can't: the rest of the home folder is read-only. */
export async function makeCaches(home = homedir()): Promise<void> {
  for (const [folder, program] of caches) {
    const path = join(home, folder)
    if (existsSync(path) || !isUsed(folder, program)) continue
    // A read-only home has no caches.
    await mkdir(path, { recursive: true }).catch(() => undefined)
  }
}

const isUsed = (folder: string, program: string | null): boolean =>
  program === null ? folder.startsWith('Library/') === (process.platform === 'darwin') : findOnPath(program) !== null
