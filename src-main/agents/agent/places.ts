import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isRecord } from './text.ts'

/**
 * Paths as places below `cwd`, with `/`; null when one of them is elsewhere. Links are followed: what
 * lies behind one counts, not where it stands. What can't be looked at is elsewhere.
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
    // A shell's home; no file of a worktree is called so by a tool.
    if (path.startsWith('~')) return null
    const named = resolve(cwd, path)
    const real = relative(root, await realPathOf(named))
    if (isOutside(real)) return null
    places.push(real.split(sep).join('/'), relative(resolve(cwd), named).split(sep).join('/'))
  }
  return [...new Set(places)]
}

const isOutside = (place: string): boolean => place === '..' || place.startsWith(`..${sep}`) || isAbsolute(place)

/** Of what is not there yet, where it would come to be. A link to nothing leads to where it points. */
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
    // Nothing is there, or no link.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EINVAL') return null
    throw error
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : null)

const pathKey = /(?:path|paths|file|files|dir|directory|folder)$/i
const patternKey = /(?:pattern|glob|include)$/i
const leadsOut = /^[/~\\]|^[a-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)/i

/** The paths that the input of a tool names; a pattern is one where it may lead out of the worktree. */
export function pathsIn(input: unknown): string[] {
  if (!isRecord(input)) return []
  return Object.entries(input).flatMap(([key, value]) => {
    const texts = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string' && one !== '')
    if (pathKey.test(key)) return texts as string[]
    return patternKey.test(key) ? (texts as string[]).filter((text) => leadsOut.test(text)) : []
  })
}
