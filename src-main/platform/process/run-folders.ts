import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const prefix = 'copse-run-'

/** Returns a name that identifies the process that created the folder. */
export const ownName = (random: string): string => `${prefix}${process.pid}-${random}`

/** Returns whether the process that created the folder has ended. */
export function isLeft(name: string): boolean {
  const pid = Number(/^copse-run-(\d+)-/.exec(name)?.[1] ?? Number.NaN)
  if (!Number.isSafeInteger(pid) || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Creates the temporary folder of a run. */
export const makeTemporary = async (): Promise<string> => await mkdtemp(join(tmpdir(), ownName('')))

/** Removes the folder, also below folders that programs made read-only, as module caches are. */
export async function removeTemporary(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  await remove().catch(async () => {
    await openFolders(folder)
    // A later service removes what can't be removed now.
    await remove().catch(() => undefined)
  })
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined)
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await openFolders(join(folder, entry.name))
}

/** Removes the temporary folders of killed services. */
export async function sweepTemporary(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [])
  for (const name of names) if (name.startsWith(prefix) && isLeft(name)) await removeTemporary(join(tmpdir(), name))
}

/** Returns the private folders of files for agents that a command names. */
export function privateFoldersIn(texts: readonly string[]): readonly string[] {
  const base = join(tmpdir(), 'svc-run-').replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  const pattern = new RegExp(`${base}\\w{6}(?=/)`, 'g')
  return [...new Set(texts.flatMap((text) => text.match(pattern) ?? []))].map((path) => dirname(join(path, 'x')))
}
