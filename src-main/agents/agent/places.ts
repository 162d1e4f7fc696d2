import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isRecord } from './text.ts'

/**
 * Resolves paths to paths below `cwd`, with `/`; returns null if one is outside. Follows links, because their target
 * counts; a path that can't be read is outside.
 */
export async function resolveToolPaths(cwd: string, paths: readonly string[]): Promise<readonly string[] | null> {
  try {
    return await findPlaces(cwd, paths)
  } catch (error) {
    if (typeof codeOf(error) === 'string') return null
    throw error
  }
}

async function findPlaces(cwd: string, paths: readonly string[]): Promise<readonly string[] | null> {
  const root = await realPathOf(resolve(cwd))
  const places: string[] = []
  for (const path of paths) {
    // `~` is a shell's home; no tool names a worktree file like that.
    if (path.startsWith('~')) return null
    const named = resolve(cwd, path)
    const real = relative(root, await realPathOf(named))
    if (isOutside(real)) return null
    places.push(real.split(sep).join('/'), relative(resolve(cwd), named).split(sep).join('/'))
  }
  return [...new Set(places)]
}

const isOutside = (place: string): boolean => place === '..' || place.startsWith(`..${sep}`) || isAbsolute(place)

/** Returns the real path, also of a missing file where it would be created. A broken link resolves to its target. */
async function realPathOf(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path || links > maxLinks) throw error
    const target = await targetOf(path)
    if (target !== null) return realPathOf(resolve(dirname(path), target), links + 1)
    return join(await realPathOf(dirname(path), links), basename(path))
  }
}

const maxLinks = 40

async function targetOf(path: string): Promise<string | null> {
  try {
    return await readlink(path)
  } catch (error) {
    // The path is missing or no link.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EINVAL') return null
    throw error
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : null)

const pathKey = /(?:path|paths|file|files|dir|directory|folder)$/i
const patternKey = /(?:pattern|glob|include)$/i
const leadsOut = /^[/~\\]|^[a-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)/i

/** Returns the paths in a tool's input; a pattern counts if it may lead out of the worktree. */
export function pathsIn(input: unknown): string[] {
  if (!isRecord(input)) return []
  return Object.entries(input).flatMap(([key, value]) => {
    const texts = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string' && one !== '')
    if (pathKey.test(key)) return texts as string[]
    return patternKey.test(key) ? (texts as string[]).filter((text) => leadsOut.test(text)) : []
  })
}
