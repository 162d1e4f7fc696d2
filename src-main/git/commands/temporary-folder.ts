import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../files/file-errors.ts'

const named = /^copse-(?:snapshot|frozen|suggestion|overlaps|flags|signature|attributes)-(\d+)-/

/**
 * Creates a temporary folder for a git command. Its name contains the process, so that leftovers of a killed one can
 * be found.
 */
export async function makeTemporary(
  kind: 'snapshot' | 'frozen' | 'suggestion' | 'overlaps' | 'flags' | 'signature' | 'attributes',
): Promise<string> {
  return await mkdtemp(join(tmpdir(), `copse-${kind}-${process.pid}-`))
}

/** Removes the folders of ended processes, because they contain copies of work. */
export async function removeLeftTemporary(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(named.exec(name)?.[1] ?? process.pid)
    if (pid !== process.pid && !isAlive(pid)) await rm(join(tmpdir(), name), { recursive: true, force: true })
  }
}

/** Returns whether a process with this ID exists; it may be another one by now. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}
