import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/*
 * What a backup holds of the data folder: all that can't be created again, and nothing that belongs to a machine. So
 * not the worktrees and what arrived from runners, which are git's; the homes of agents, in which they sign in again;
 * and the sign-ins of `svc`, whose refresh tokens work once and would be void.
 */

export const databaseName = 'copse.db'
const keyName = 'secrets/jwt.key'
const folders = ['workflows', 'attachments', 'logs'] as const
/** The folders and files to move away before others take their place; the database comes first, see `restore.ts`. */
export const otherParts: readonly string[] = [keyName, ...folders]

/** Returns whether a backup may hold a file of this name, which is relative and has slashes on every system. */
export function isPart(name: string): boolean {
  if (name === databaseName || name === keyName) return true
  const [folder, ...rest] = name.split('/')
  if (!folders.some((one) => one === folder) || rest.length === 0) return false
  return rest.every((segment) => segment !== '' && !/^\.\.?$|[\\:\0]/.test(segment))
}

/** Lists the files besides the database. */
export async function listFiles(dataDir: string): Promise<readonly string[]> {
  const lists = await Promise.all(folders.map((folder) => filesBelow(dataDir, folder)))
  return [keyName, ...lists.flat().filter((name) => !isPartial(name) && isPart(name))]
}

/** An attachment is stored under another name until it is whole. */
const isPartial = (name: string): boolean => /^attachments\/.*\/[^/]*\.[^/]*$/.test(name)

async function filesBelow(dataDir: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(dataDir, folder), { withFileTypes: true }).catch(orNone)
  const found = entries
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(async (entry) => {
      const name = `${folder}/${entry.name}`
      if (entry.isDirectory()) return await filesBelow(dataDir, name)
      return entry.isFile() ? [name] : []
    })
  return (await Promise.all(found)).flat()
}

function orNone(error: unknown): [] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
  throw error
}
