import { dirname, join } from 'node:path'
import { projectRoot } from './project-root.ts'

/** A built program of the main process. Tests start built processes, which takes less than half the time. */
export async function builtFile(name: 'cli.js' | 'headless.js'): Promise<string> {
  await ensureBuilt()
  return join(projectRoot, 'dist', 'main', name)
}

let built: Promise<void> | undefined

/** Builds what is older than its sources. Checks them once per process, because all of them have to be read. */
export function ensureBuilt(): Promise<void> {
  return (built ??= build())
}

async function build(): Promise<void> {
  const script = new URL('../../scripts/build.mjs', import.meta.url).href
  const scripts = (await import(script)) as { ensureBuilt(bin: string): Promise<void> }
  await scripts.ensureBuilt(dirname(process.execPath))
}

const library = process.env['COPSE_QUICK_FORK']
/** The environment with which a process starts programs quickly, where the machine can: `scripts/support/quick-fork.c`. */
export const quickFork: Readonly<Record<string, string>> = library === undefined ? {} : { LD_PRELOAD: library }
