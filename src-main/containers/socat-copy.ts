import { existsSync } from 'node:fs'
import { copyFile, mkdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { findOnPath } from '../platform/process/find-on-path.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { askEngine } from './engine-client.ts'

/** This machine's socat with all that it needs to run in any image of its architecture. */
export interface SocatCopy {
  /** Mounted at its own path. */
  readonly folder: string
  /** The words that start it. */
  readonly command: readonly string[]
}

/**
 * Copies socat, its libraries and their loader below a folder, once for each version of them; null if this machine has
 * no socat. An image may have no program that joins a port to a socket, and not the library of C that ours needs.
 */
export async function copySocat(folder: string, { signal }: Cancellable): Promise<SocatCopy | null> {
  const found = findOnPath('socat')
  const ldd = findOnPath('ldd')
  if (found === null || ldd === null) return null
  const program = await realpath(found)
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' }
  const listed = await askEngine({ program: ldd, args: [], env }, [program], { signal })
  if (listed.exit_code !== 0) return null
  const libraries = [...new Set(listed.stdout.match(/(?<=^|\s)\/\S+(?= \()/gm) ?? [])]
  const loader = libraries.find((path) => /^ld[-.]/.test(basename(path)))
  // Linked statically, it needs none.
  const files = loader === undefined ? [program] : [program, ...libraries]
  const states = await Promise.all(files.map(async (path) => [path, (await stat(path)).mtimeMs]))
  const version = createHash('sha256').update(JSON.stringify(states)).digest('hex').slice(0, 16)
  const at = join(folder, version)
  const inCopy = (path: string): string => join(at, basename(path))
  if (!existsSync(at)) await copyAll(files, at)
  const loading = loader === undefined ? [] : [inCopy(loader), '--library-path', at]
  return { folder: at, command: [...loading, inCopy(program)] }
}

async function copyAll(files: readonly string[], to: string): Promise<void> {
  const made = `${to}.${process.pid}`
  await mkdir(made, { recursive: true })
  for (const file of files) await copyFile(file, join(made, basename(file)))
  // Another start may have been first.
  await rename(made, to).catch(() => rm(made, { recursive: true, force: true }))
}
