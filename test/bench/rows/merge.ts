import { execFile } from 'node:child_process'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { MergeRequest } from '../../../src-main/ports/branch-ref.ts'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { createTestRepository, testGitEnvironment, type TestRepository } from '../../helpers/git-repository.ts'
import { memoryFolder } from '../memory-folder.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const execute = promisify(execFile)
const sizes = { full: { files: 10_000, changed: 500 }, quick: { files: 50, changed: 5 } } as const
const message = 'Merge the task\n'

/**
 * A merge of a branch with 500 changed files into a target that has moved on, in a repository of 10,000 files whose
 * checkout is on the target and follows. The floor is `git merge` in a clone. What the product does more: nothing of
 * the user's may be lost, so it plans in the object store, notes the move, tries it out, and looks afterwards whether
 * the target holds the work.
 */
export const mergeRow: BenchRow = {
  name: 'merge-500-files',
  unit: 'ms',
  better: 'lower',
  goal: 1.2,
  rounds: { full: { warmUp: 2, measured: 11 }, quick: { warmUp: 0, measured: 1 } },
  prepare: async (setting) => {
    const { land, byGit, ...rest } = await prepare(setting)
    return { ...rest, product: land, floor: byGit }
  },
}

/**
 * The same merge as a task lands whose merge needs no test: the tip is read, the merge prepared, the base moved to it.
 * The floor is the merge at once, as with `landing.mode: "off"`, and what is compared is how much more that takes.
 */
export const landingRow: BenchRow = {
  name: 'landing-reviewed',
  unit: 'ms',
  better: 'lower',
  goal: 50,
  compare: 'difference',
  rounds: { full: { warmUp: 2, measured: 11 }, quick: { warmUp: 0, measured: 1 } },
  prepare: async (setting) => {
    const { land, atOnce, ...rest } = await prepare(setting)
    return { ...rest, product: land, floor: atOnce }
  },
}

interface Merges extends Pick<Contest, 'verify' | typeof Symbol.asyncDispose> {
  land(): Promise<number>
  atOnce(): Promise<number>
  byGit(): Promise<number>
}

async function prepare({ scale, say }: Setting): Promise<Merges> {
  const { files, changed } = sizes[scale]
  await using opened = new AsyncDisposableStack()
  say(`  making a repository of ${files} files and its clone`)
  const content = Object.fromEntries(Array.from({ length: files }, (_, number) => [nameOf(number), textOf(number)]))
  const repository = opened.use(await createTestRepository({ files: null, within: await memoryFolder() }))
  // A collection in the background would run into the measurement, and into the clone.
  await repository.git(['config', 'gc.auto', '0'])
  await repository.commit('First commit', content)
  await repository.git(['repack', '-adq'])
  const path = join(repository.beside, 'worktree')
  await repository.git(['worktree', 'add', '--quiet', '-b', 'task', path])
  for (let number = 0; number < changed; number += 1)
    await writeFile(join(path, nameOf(number)), textOf(number, 'task'))
  await repository.git(['commit', '--quiet', '--all', '--message', 'Work'], { cwd: path })
  const target = await repository.commit('Meanwhile', { [nameOf(files - 1)]: textOf(files - 1, 'meanwhile') })
  const clone = join(repository.beside, 'clone')
  await mkdir(clone)
  await repository.git(['clone', '--quiet', '--no-hardlinks', repository.path, clone])
  await repository.git(['branch', '--quiet', 'task', 'origin/task'], { cwd: clone })
  const request: MergeRequest = {
    repo_path: repository.path,
    path,
    branch: 'task',
    base_branch: 'main',
    base_commit: target,
    strategy: 'merge',
    message,
  }
  const workspaces = createWorkspaces()
  const { signal } = new AbortController()
  const trees = new Set<string>()
  const owned = opened.move()
  // git reads anew what was written within the same second as its index; a person's files are older than that.
  const age = async (cwd: string): Promise<void> => {
    const past = new Date(Date.now() - 3_600_000)
    for (let number = 0; number < changed; number += 1) await utimes(join(cwd, nameOf(number)), past, past)
    await repository.git(['update-index', '-q', '--refresh'], { cwd })
  }
  for (const cwd of [repository.path, clone]) await age(cwd)
  const round = async (cwd: string, merge: () => Promise<void>): Promise<number> => {
    const since = performance.now()
    await merge()
    const took = performance.now() - since
    trees.add(await stateOf(repository, cwd))
    await repository.git(['reset', '--quiet', '--hard', target], { cwd })
    await age(cwd)
    return took
  }
  return {
    land: () =>
      round(repository.path, async () => {
        const onto = await workspaces.tip(repository.path, 'main', { signal })
        const prepared = await workspaces.prepareMerge({ ...request, onto: onto ?? '' }, { signal })
        if (prepared.kind !== 'prepared') throw new Error(`The merge came to ${prepared.kind}.`)
        const { kind } = await workspaces.moveTarget([{ request, prepared }], { signal })
        if (kind !== 'moved') throw new Error(`The base was ${kind}.`)
      }),
    atOnce: () =>
      round(repository.path, async () => {
        const { kind } = await workspaces.merge(request, { signal })
        if (kind !== 'merged') throw new Error(`The merge came to ${kind}.`)
      }),
    byGit: () =>
      round(clone, async () => {
        const env = { ...process.env, ...testGitEnvironment }
        await execute('git', ['merge', '--quiet', '--no-ff', '-m', message, 'task'], { cwd: clone, env })
      }),
    verify: () =>
      trees.size === 1
        ? Promise.resolve()
        : Promise.reject(new Error(`Both sides must come to the same, clean: ${[...trees].join(' and ')}`)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The merged tree, its number of parents, and what of the checkout is not as it says. */
async function stateOf(repository: TestRepository, cwd: string): Promise<string> {
  const [tree, parents, status] = await Promise.all([
    repository.git(['rev-parse', 'main^{tree}'], { cwd }),
    repository.git(['log', '-1', '--format=%P', 'main'], { cwd }),
    repository.git(['status', '--porcelain'], { cwd }),
  ])
  return `${tree}, ${parents.split(' ').length} parents, ${status === '' ? 'clean' : status}`
}

const nameOf = (number: number): string => `src/part-${number % 100}/file-${number}.ts`

const textOf = (number: number, word = 'value'): string =>
  Array.from({ length: 40 }, (_, line) => `const ${line === 20 ? word : 'value'}${line} = compute(${number})\n`).join(
    '',
  )
