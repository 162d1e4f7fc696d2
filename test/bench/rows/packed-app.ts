import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../../helpers/project-root.ts'
import { isBuilt } from '../product.ts'
import type { BenchRow, Contest } from '../row.ts'

/** What `npm run dist:check` packs with. */
interface Packing {
  packWithoutElectron(folder: string): Promise<{ readonly resources: string }>
}

const megabyte = 1024 * 1024

/**
 * What the installed app takes besides Electron: program, page, every dependency and their licences, packed as
 * `npm run dist` packs them from what was built last. The floor is the production dependencies alone, as npm puts them
 * into `node_modules`: at a goal below 1 the whole app is smaller than what it is built on. There is one round, since
 * packing the same twice gives the same.
 */
export const packedApp: BenchRow = {
  name: 'packed-app-size',
  unit: 'MB',
  better: 'lower',
  goal: 0.5,
  rounds: { full: { warmUp: 0, measured: 1 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare(): Promise<Contest> {
  if (!isBuilt()) throw new Error('There is nothing to pack yet. Run `npm run build` first.')
  const script = new URL('../../../scripts/support/package-pack.mjs', import.meta.url)
  const { packWithoutElectron } = (await import(script.href)) as Packing
  const folder = await mkdtemp(join(tmpdir(), 'copse-bench-package-'))
  return {
    product: async () => {
      const { resources } = await packWithoutElectron(folder)
      return (await sizeBelow(resources)) / megabyte
    },
    floor: async () => {
      const sizes = await Promise.all(productionFolders().map((one) => sizeBelow(one, 'node_modules')))
      return sizes.reduce((sum, size) => sum + size, 0) / megabyte
    },
    verify: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** Where the packages lie that the app needs when it runs, on this platform. */
function productionFolders(): readonly string[] {
  const lock = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>
  }
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true)
    .map(([path]) => join(projectRoot, path))
    .filter((path) => existsSync(path))
}

async function sizeBelow(folder: string, without?: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true })
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return entry.name === without ? 0 : await sizeBelow(path)
      return entry.isFile() ? (await stat(path)).size : 0
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
