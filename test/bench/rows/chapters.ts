import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSyntaxReader } from '../../../src-main/chapters/syntax/create-syntax-reader.ts'
import { tellByRules } from '../../../src-main/chapters/tell-by-rules.ts'
import type { BranchRef } from '../../../src-main/ports/branch-ref.ts'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { memoryFolder } from '../memory-folder.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const sizes = { full: { files: 3_000, changed: 2_000 }, quick: { files: 40, changed: 10 } } as const
const never = { signal: new AbortController().signal }

/**
 * What the chapters of 2,000 changed files take of the processor, threads of grammars included, after git has told what
 * changed: in each file of 90 lines a function is edited and one is added, which another changed file calls. Nothing is
 * kept from an earlier read. The floor is nothing, and the goal a second.
 */
export const firstChaptersRow: BenchRow = {
  name: 'chapters-2000-files-first',
  unit: 'CPU ms',
  better: 'lower',
  goal: 1_000,
  compare: 'difference',
  rounds: { full: { warmUp: 1, measured: 5 }, quick: { warmUp: 0, measured: 1 } },
  prepare: (setting) => prepare(setting, 'first'),
}

/** The same after a push that changes one more of these files. */
export const chaptersRow: BenchRow = {
  ...firstChaptersRow,
  name: 'chapters-2000-files',
  prepare: (setting) => prepare(setting, 'again'),
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
  for (let number = 0; number < changed; number++) await writeFile(join(path, nameOf(number)), textOf(number, 'edited'))
  await repository.git(['commit', '--quiet', '--all', '--message', 'All of it'], { cwd: path })
  const ref: BranchRef = { repo_path: repository.path, path, branch: 'task', base_branch: 'main', base_commit: base }
  const workspaces = createWorkspaces({ dataDir: join(repository.beside, 'data') })
  let syntax = createSyntaxReader()
  let round = 0
  let seen = 0
  const measure = async (): Promise<number> => {
    const edited = round % changed
    round += 1
    await writeFile(join(path, nameOf(edited)), textOf(edited, `edited${round}`))
    const { base_tree, files: sources } = await workspaces.sources(ref, () => false, never)
    const since = process.cpuUsage()
    const told = await tellByRules(sources ?? [], {
      syntax,
      wordsInBase: (words) => workspaces.wordsIn(ref, base_tree, words, never),
      onlyIgnored: (paths) => workspaces.onlyIgnored(ref, paths, never),
      hasSecret: () => false,
      risky_paths: [],
      ...never,
    })
    const { user, system } = process.cpuUsage(since)
    seen = new Set(told.chapters.flatMap(({ hunks }) => hunks.map(({ hunk }) => hunk.path))).size
    return (user + system) / 1_000
  }
  if (which === 'again') await measure()
  const owned = opened.move()
  return {
    product: async () => {
      if (which === 'first') {
        await syntax.close()
        syntax = createSyntaxReader()
      }
      return await measure()
    },
    floor: () => Promise.resolve(0),
    verify: () =>
      seen === changed ? Promise.resolve() : Promise.reject(new Error(`${seen} of ${changed} files are in chapters.`)),
    [Symbol.asyncDispose]: async () => {
      await syntax.close()
      await owned.disposeAsync()
    },
  }
}

const nameOf = (number: number): string => `src/part-${number % 50}/file-${number}.ts`

/** A file's text; an edited one has another condition, and one function more, which the next file calls. */
function textOf(number: number, edited = ''): string {
  const methods = Array.from(
    { length: 12 },
    (_, at) => `
  /** Returns what part ${at} has of an item. */
  find${at}(items: readonly Item[], name: string): Item | null {
    const found = items.find((item) => item.name === name && item.size > ${edited !== '' && at === 5 ? number + 1 : number})
    return found === undefined ? null : { ...found, size: this.limit(found.size, ${at}) }
  }
`,
  )
  const more =
    edited === ''
      ? ''
      : `\nexport function create${number}(store: Store${number}): Item {\n  log('${edited}', create${number - 1}(store))\n  return { name: 'x', size: ${number} }\n}\n`
  return `import type { Item } from '../item.ts'\nimport { log } from '../log.ts'\n\nexport class Store${number} {${methods.join('')}\n  limit(size: number, most: number): number {\n    return Math.min(size, most * ${number})\n  }\n}\n${more}`
}
