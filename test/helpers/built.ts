import { dirname, join } from 'node:path'
import { projectRoot } from './project-root.ts'

/** A built program of the main process. Processes that tests start are built ones: they start in less than half the time. */
export async function builtFile(name: 'cli.js' | 'headless.js'): Promise<string> {
  await ensureBuilt()
  return join(projectRoot, 'dist', 'main', name)
}

/** Builds what is older than its sources. */
export async function ensureBuilt(): Promise<void> {
  const script = new URL('../../scripts/build.mjs', import.meta.url).href
  const build = (await import(script)) as { ensureBuilt(bin: string): Promise<void> }
  await build.ensureBuilt(dirname(process.execPath))
}
