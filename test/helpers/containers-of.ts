import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { installationOf } from '../../src-main/containers/ground.ts'
import type { TestEngine } from './container-engine.ts'

/** Returns the containers, running or not, that an installation has; `labels`: only those with these too. */
export async function containersOf(
  { engine }: TestEngine,
  dataDir: string,
  labels: readonly string[] = [],
): Promise<readonly string[]> {
  const wanted = [`copse.installation=${installationOf(dataDir)}`, ...labels]
  const filters = wanted.flatMap((label) => ['--filter', `label=${label}`])
  const { stdout } = await promisify(execFile)(engine, ['ps', '--all', '--quiet', ...filters])
  return stdout.split('\n').filter(Boolean)
}
