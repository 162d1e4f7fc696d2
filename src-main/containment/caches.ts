import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { findOnPath } from '../platform/process/find-on-path.ts'

/**
 * Caches below `~/.cache`, one by one: beside them shells keep what they run at their start, browsers what was seen,
 * and some programs their tokens. What a run writes elsewhere in it stays in its private home.
 */
const inCacheHome: readonly (readonly [name: string, program: string | null])[] = [
  ['pip', 'pip'],
  ['uv', 'uv'],
  ['pypoetry', 'poetry'],
  ['pdm', 'pdm'],
  ['pipenv', 'pipenv'],
  ['pre-commit', 'pre-commit'],
  ['go-build', 'go'],
  ['golangci-lint', 'golangci-lint'],
  ['yarn', 'yarn'],
  ['pnpm', 'pnpm'],
  ['deno', 'deno'],
  ['bazel', 'bazel'],
  ['bazelisk', 'bazelisk'],
  ['ccache', 'ccache'],
  ['sccache', 'sccache'],
  ['zig', 'zig'],
  ['composer', 'composer'],
  ['coursier', 'cs'],
  ...[
    ...['node', 'node-gyp', 'typescript', 'prisma', 'turbo', 'esbuild', 'ms-playwright', 'puppeteer', 'Cypress'],
    ...['electron', 'electron-builder', 'selenium', 'vcpkg', 'conan', 'meson', 'dune', 'rebar3', 'helm', 'nix'],
    ...['ruff', 'mypy', 'torch', 'huggingface/hub', 'fontconfig', 'mesa_shader_cache'],
  ].map((name) => [name, null] as const),
]

/**
 * Caches of package managers below the home folder, with the program that owns each; `null`: several. Excludes
 * settings, and programs on the user's PATH, which lie beside caches.
 */
const caches: readonly (readonly [folder: string, program: string | null])[] = [
  ...inCacheHome.map(([name, program]) => [`.cache/${name}`, program] as const),
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
const variables = ['GOCACHE', 'GOMODCACHE', 'UV_CACHE_DIR', 'PIP_CACHE_DIR', 'YARN_CACHE_FOLDER']

export const cachesIn = (homes: readonly string[]): readonly string[] => [
  ...homes.flatMap((home) => caches.map(([folder]) => join(home, folder))),
  ...cacheHomes().flatMap((folder) => inCacheHome.map(([name]) => join(folder, name))),
  ...variables.flatMap((name) => process.env[name] || []).filter(isAbsolute),
]

const cacheHomes = (): readonly string[] => [process.env['XDG_CACHE_HOME'] ?? ''].filter(isAbsolute)

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
  program === null ? folder.startsWith('Library/') && process.platform === 'darwin' : isInstalled(program)

const installed = new Map<string, boolean>()
/** Looked up once, because a run starts in milliseconds. */
function isInstalled(program: string): boolean {
  const known = installed.get(program) ?? findOnPath(program) !== null
  installed.set(program, known)
  return known
}
