import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { createTestRepository, testGitEnvironment, type TestRepository } from '../../helpers/git-repository.ts'
import { memoryFolder } from '../memory-folder.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const execute = promisify(execFile)

/**
 * The worktree of a task that nobody had before, until its set-up could begin: the engine's `ensure` in this process,
 * with all that it looks at and notes. The floor is `git worktree add -b` of the same commit. Repository and worktrees
 * lie in memory, and the repository is packed, as a clone is. What a round made is looked through and removed outside
 * the measured time. In small repositories the few commands beside the checkout are what is measured: their rows only
 * tell when that becomes worse.
 */
export const worktreeCreationRows: readonly BenchRow[] = [
  rowOf({ files: 1_000, quick: 20, goal: 3, rounds: 15 }),
  rowOf({ files: 10_000, quick: 50, goal: 1.5, rounds: 9 }),
  rowOf({ files: 100_000, quick: 150, goal: 0.7, rounds: 3 }),
]

interface Size {
  readonly files: number
  /** Files of a quick run. */
  readonly quick: number
  readonly goal: number
  readonly rounds: number
}

function rowOf({ files, quick, goal, rounds }: Size): BenchRow {
  return {
    name: `worktree-creation-${files}`,
    unit: 'ms',
    better: 'lower',
    goal,
    rounds: { full: { warmUp: 1, measured: rounds }, quick: { warmUp: 0, measured: 1 } },
    prepare: (setting) => prepare(setting, setting.scale === 'full' ? files : quick),
  }
}

async function prepare({ say }: Setting, count: number): Promise<Contest> {
  await using opened = new AsyncDisposableStack()
  say(`  making a repository of ${count} files`)
  const repository = opened.use(await createTestRepository({ files: null, within: await memoryFolder() }))
  await importFiles(repository, count)
  const workspaces = createWorkspaces()
  const env = { ...process.env, ...testGitEnvironment }
  let number = 0
  let good = 0
  /** One round: a worktree is made, which is what counts, looked through and removed. */
  const round = async (make: (path: string, branch: string) => Promise<unknown>): Promise<number> => {
    number += 1
    const [path, branch] = [join(repository.beside, `worktree-${number}`), `task/${number}`]
    const since = performance.now()
    await make(path, branch)
    const took = performance.now() - since
    const status = await repository.git(['status', '--porcelain', '--branch'], { cwd: path })
    const listed = await repository.git(['ls-files'], { cwd: path })
    if (status === `## ${branch}` && listed.split('\n').length === count) good += 1
    await rm(path, { recursive: true })
    await repository.git(['worktree', 'prune'])
    await repository.git(['branch', '--quiet', '-D', branch])
    return took
  }
  const owned = opened.move()
  return {
    product: () =>
      round((path, branch) =>
        workspaces.ensure(
          {
            repo_path: repository.path,
            path,
            branch,
            base_branch: 'main',
            expect: 'new',
            setup_commands: [],
            copy_files: [],
            env: {},
          },
          { signal: new AbortController().signal },
        ),
      ),
    floor: () =>
      round((path, branch) =>
        execute('git', ['worktree', 'add', '-b', branch, path, 'main'], { cwd: repository.path, env }),
      ),
    verify: () => {
      if (good === number) return Promise.resolve()
      return Promise.reject(new Error(`${number - good} of ${number} worktrees were not as they should be.`))
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Sources of a project, 100 to a folder, 0.3 to 6 KB each, in one commit and one pack, and checked out. */
async function importFiles(repository: TestRepository, count: number): Promise<void> {
  const env = { ...process.env, ...testGitEnvironment }
  const git = spawn('git', ['fast-import', '--quiet'], {
    cwd: repository.path,
    env,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const exited = once(git, 'exit')
  await pipeline(function* () {
    for (let number = 0; number < count; number++) {
      const text = textOf(number)
      yield `blob\nmark :${number + 1}\ndata ${Buffer.byteLength(text)}\n${text}\n`
    }
    yield 'commit refs/heads/main\ncommitter Bench <bench@copse.test> 0 +0000\ndata 1\nx\n'
    for (let number = 0; number < count; number++) {
      yield `M 100644 :${number + 1} src/part-${Math.floor(number / 100)}/file-${number}.ts\n`
    }
  }, git.stdin)
  const [code] = (await exited) as [number | null]
  if (code !== 0) throw new Error(`git fast-import ended with ${code ?? 'a signal'}.`)
  await repository.git(['reset', '--quiet', '--hard'])
}

function textOf(number: number): string {
  const lines = 5 + ((number * 37) % 95)
  const text = Array.from({ length: lines }, (_, line) => `export const value${number}x${line} = ${number + line}\n`)
  return `// File ${number}\n${text.join('')}`
}
