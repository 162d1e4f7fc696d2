import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { eventually } from '../../helpers/eventually.ts'
import { createTestRepository, testGitEnvironment, type TestRepository } from '../../helpers/git-repository.ts'
import { memoryFolder } from '../memory-folder.ts'
import { usageOf } from '../process-usage.ts'
import { startProduct, type Product } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'
import { someAtOnce } from '../some-at-once.ts'

const execute = promisify(execFile)
const matrixSizes = { full: { worktrees: 20, files: 1_000 }, quick: { worktrees: 3, files: 20 } } as const
const idleSizes = {
  full: { worktrees: 20, files: 20_000, seconds: 10 },
  quick: { worktrees: 2, files: 20, seconds: 1 },
} as const

/**
 * From the last of 20 writes, one in each worktree and all in the same line, until the pairs of all are told. The floor
 * is the same by git: each work committed to its branch, and each two merged. The goal of 2 s is held by `verify`.
 */
export const overlapsMatrix: BenchRow = {
  name: 'overlaps-matrix-20',
  unit: 'ms',
  better: 'lower',
  goal: 2,
  rounds: { full: { warmUp: 1, measured: 5 }, quick: { warmUp: 0, measured: 1 } },
  prepare: prepareMatrix,
}

/** What the service takes of one core, in hundredths, while nothing changes in 20 worktrees of 20,000 files. */
export const overlapsIdle: BenchRow = {
  name: 'overlaps-idle',
  unit: '% of a core',
  better: 'lower',
  goal: 1,
  idle: true,
  rounds: { full: { warmUp: 1, measured: 2 }, quick: { warmUp: 0, measured: 1 } },
  prepare: prepareIdle,
}

interface Scene extends AsyncDisposable {
  readonly repository: TestRepository
  readonly product: Product
  readonly project_id: string
  readonly paths: readonly string[]
}

/** `text`: what each file but the one that is written to holds. */
async function startScene(
  { build, say }: Setting,
  { worktrees, files }: { readonly worktrees: number; readonly files: number },
  text = 'const x = 1\n',
): Promise<Scene> {
  await using opened = new AsyncDisposableStack()
  say(`  making ${worktrees} worktrees of ${files} files`)
  const within = await memoryFolder()
  const content = Object.fromEntries(
    Array.from({ length: files }, (_, n) => [
      `src/${n % Math.ceil(files / 100)}/${n}.ts`,
      n === 0 ? 'const x = 1\n' : text,
    ]),
  )
  const repository = opened.use(await createTestRepository({ files: content, within }))
  const product = opened.use(await startProduct(build, within))
  const { client } = product
  const { id: project_id } = await client.call('projects.create', { name: 'Overlaps', repo_path: repository.path })
  const paths = await someAtOnce(worktrees, availableParallelism(), async (number) => {
    const { id: task_id } = await client.call('tasks.create', { project_id, title: `Task ${number}` })
    const { workspace } = await client.call('tasks.claim', { task_id })
    return workspace?.path ?? ''
  })
  const owned = opened.move()
  return { repository, product, project_id, paths, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function prepareMatrix(setting: Setting): Promise<Contest> {
  const { worktrees } = matrixSizes[setting.scale]
  const scene = await startScene(setting, matrixSizes[setting.scale])
  const { repository, product, project_id, paths } = scene
  const pairs = (worktrees * (worktrees - 1)) / 2
  const took: number[] = []
  let round = 0
  const waitFor = async (fits: (found: readonly string[]) => boolean): Promise<void> => {
    const read = () => product.client.call('overlaps.list', { project_id })
    await eventually(product.client, read, ({ items }) => fits(items.map(({ kind }) => kind)))
  }
  const write = async (text: (number: number) => string): Promise<void> => {
    await Promise.all(paths.map((path, number) => writeFile(join(path, 'src/0/0.ts'), text(number))))
  }
  const original = await readFile(join(repository.path, 'src/0/0.ts'), 'utf8')
  return {
    product: async () => {
      round += 1
      await write((number) => `// ${round} ${number}\n`)
      const since = performance.now()
      await waitFor((found) => found.length === pairs && found.every((kind) => kind === 'conflict'))
      took.push(performance.now() - since)
      await write(() => original)
      await waitFor((found) => found.length === 0)
      return took.at(-1) ?? 0
    },
    floor: async () => {
      const env = { ...process.env, ...testGitEnvironment }
      const git = async (cwd: string, ...args: readonly string[]) =>
        (await execute('git', args, { cwd, env }).catch((error: unknown) => error as { stdout: string })).stdout.trim()
      await write((number) => `// by hand ${number}\n`)
      const since = performance.now()
      const commits: string[] = []
      for (const path of paths) {
        await git(path, 'commit', '--quiet', '--all', '--message', 'Work')
        commits.push(await git(path, 'rev-parse', 'HEAD'))
      }
      for (const [number, one] of commits.entries())
        for (const other of commits.slice(number + 1))
          await git(repository.path, 'merge-tree', '--write-tree', one, other)
      const result = performance.now() - since
      for (const path of paths) await git(path, 'reset', '--quiet', '--hard', 'HEAD~1')
      await waitFor((found) => found.length === 0)
      return result
    },
    verify: () => {
      const worst = Math.max(...took)
      setting.say(`  slowest matrix: ${Math.round(worst)} ms`)
      return worst <= 2_000 ? Promise.resolve() : Promise.reject(new Error(`A matrix took ${Math.round(worst)} ms.`))
    },
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  }
}

async function prepareIdle(setting: Setting): Promise<Contest> {
  const { seconds } = idleSizes[setting.scale]
  // Empty files take a tenth of the memory, and nothing reads what is in them.
  const scene = await startScene(setting, idleSizes[setting.scale], '')
  const { product, project_id, paths } = scene
  // That two are told of shows that all are watched by then.
  for (const path of paths.slice(-2)) await writeFile(join(path, 'src/0/0.ts'), `// ${path}\n`)
  const read = () => product.client.call('overlaps.list', { project_id })
  await eventually(product.client, read, ({ items }) => items.length === 1)
  return {
    product: async () => {
      const before = await usageOf(product.pid)
      const since = performance.now()
      await setTimeout(seconds * 1_000)
      const after = await usageOf(product.pid)
      return Math.max(0.001, ((after.cpu_ms - before.cpu_ms) / (performance.now() - since)) * 100)
    },
    floor: () => Promise.resolve(1),
    verify: async () => {
      const { items } = await read()
      if (items.length !== 1) throw new Error(`${items.length} overlaps are told of in the end.`)
    },
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  }
}
