import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { BranchRef } from '../../../src-main/ports/branch-ref.ts'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { createTestRepository, testGitEnvironment } from '../../helpers/git-repository.ts'
import { memoryFolder } from '../memory-folder.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const execute = promisify(execFile)
const sizes = { full: { files: 5_000, changed: 2_000 }, quick: { files: 50, changed: 10 } } as const
/** Of each file that is changed: so many lines are replaced by as many. */
const [lines, replaced] = [100, 25]

/**
 * What `GET /tasks/{id}/diff?scope=branch` reads and sends of 2,000 changed files with 100,000 changed lines in a
 * worktree of 5,000, half of them committed: git's answer, cut into files, counted, held to its budgets, as JSON.
 * Between two reads one file changes, as while an agent works. The floor is `git diff` of the same against the same
 * commit, its output collected.
 */
export const diffRow: BenchRow = {
  name: 'diff-2000-files',
  unit: 'ms',
  better: 'lower',
  goal: 1.2,
  rounds: { full: { warmUp: 2, measured: 11 }, quick: { warmUp: 0, measured: 1 } },
  prepare: (setting) => prepare(setting, 'again'),
}

/** The same, when nothing is there that an earlier read has kept. */
export const firstDiffRow: BenchRow = {
  ...diffRow,
  name: 'diff-2000-files-first',
  prepare: (setting) => prepare(setting, 'first'),
}

async function prepare({ scale, say }: Setting, which: 'first' | 'again'): Promise<Contest> {
  const { files, changed } = sizes[scale]
  await using opened = new AsyncDisposableStack()
  say(`  making a repository of ${files} files`)
  const content = Object.fromEntries(Array.from({ length: files }, (_, number) => [nameOf(number), textOf(number)]))
  const repository = opened.use(await createTestRepository({ files: content, within: await memoryFolder() }))
  const base = await repository.git(['rev-parse', 'HEAD'])
  const path = join(repository.beside, 'worktree')
  await repository.git(['worktree', 'add', '--quiet', '-b', 'task', path])
  const change = async (from: number, to: number) => {
    for (let number = from; number < to; number++) await writeFile(join(path, nameOf(number)), textOf(number, replaced))
  }
  await change(0, changed / 2)
  await repository.git(['commit', '--quiet', '--all', '--message', 'Half of it'], { cwd: path })
  // Git compares files of the second in which the index was written by their content: whether there are any is luck.
  await wait(1_000 - (Date.now() % 1_000))
  await repository.git(['status'], { cwd: path, env: { GIT_OPTIONAL_LOCKS: '1' } })
  await change(changed / 2, changed)
  const ref: BranchRef = { repo_path: repository.path, path, branch: 'task', base_branch: 'main', base_commit: base }
  const dataDir = join(repository.beside, 'data')
  let workspaces = createWorkspaces({ dataDir })
  let round = 0
  const seen = { product: { files: 0, lines: 0 }, floor: { files: 0, lines: 0 } }
  const owned = opened.move()
  return {
    product: async () => {
      if (which === 'first') workspaces = createWorkspaces({ dataDir })
      const edited = changed - 1 - (round % (changed / 2))
      round += 1
      await writeFile(join(path, nameOf(edited)), textOf(edited, replaced, `changed ${round}`))
      const since = performance.now()
      const diff = await workspaces.diff(ref, 'branch', null, { signal: new AbortController().signal })
      const json = Buffer.from(JSON.stringify(diff))
      const took = performance.now() - since
      const sum = diff.files.reduce((total, file) => total + file.additions + file.deletions, 0)
      seen.product = { files: json.includes(`changed ${round}0 `) ? diff.files.length : 0, lines: sum }
      return took
    },
    floor: async () => {
      const env = { ...process.env, ...testGitEnvironment, GIT_OPTIONAL_LOCKS: '0' }
      const options = { cwd: path, env, maxBuffer: 256 * 1024 * 1024, encoding: 'buffer' as const }
      const since = performance.now()
      const { stdout } = await execute('git', ['diff', base], options)
      const took = performance.now() - since
      const text = stdout.toString()
      const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0
      seen.floor = { files: count(/^diff --git /gm), lines: count(/^(?:\+(?!\+\+ )|-(?!-- ))/gm) }
      return took
    },
    verify: () => {
      const expected = { files: changed, lines: changed * replaced * 2 }
      const told = JSON.stringify(seen)
      if (told === JSON.stringify({ product: expected, floor: expected })) return Promise.resolve()
      return Promise.reject(new Error(`Expected ${JSON.stringify(expected)} on both sides, found ${told}.`))
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const nameOf = (number: number): string => `src/part-${number % 50}/file-${number}.ts`

/** A file's text; its first lines are others once it is changed. */
function textOf(number: number, changed = 0, word = 'changed'): string {
  const text = (line: number) => `const ${line < changed ? word : 'value'}${line} = compute(${number}, ${line})`
  return Array.from({ length: lines }, (_, line) => `${text(line)}\n`).join('')
}
