import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { installationOf } from '../../src-main/containers/ground.ts'
import type { TestEngine } from './container-engine.ts'

/** Returns the containers, running or not, that an installation has. */
export async function containersOf({ engine }: TestEngine, dataDir: string): Promise<readonly string[]> {
  const filter = `label=copse.installation=${installationOf(dataDir)}`
  const { stdout } = await promisify(execFile)(engine, ['ps', '--all', '--quiet', '--filter', filter])
  return stdout.split('\n').filter(Boolean)
}
