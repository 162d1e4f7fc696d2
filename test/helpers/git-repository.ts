import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** A real git repository in a temporary folder of its own; `await using` removes it. */
export interface TestRepository extends AsyncDisposable {
  /** The checkout's root, symlinks resolved. */
  readonly path: string
  /** A folder beside the checkout, for worktrees and other files of a test. Removed with the repository. */
  readonly beside: string
  /** Runs git in the checkout (or in `cwd`) and returns its stdout without the last line end. Throws if it fails. */
  git(args: readonly string[], options?: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv }): Promise<string>
  /** Writes files below the checkout or `cwd`, and creates folders as needed. */
  write(files: Readonly<Record<string, string | Uint8Array>>, cwd?: string): Promise<void>
  /** Writes files, adds everything and commits in the checkout (or in `cwd`); returns the commit's ID. */
  commit(message: string, files: Readonly<Record<string, string | Uint8Array>>, cwd?: string): Promise<string>
}

/** The environment of git in tests: no configuration but the repository's own, a fixed identity. */
export const testGitEnvironment: Readonly<Record<string, string>> = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'Copse tests',
  GIT_AUTHOR_EMAIL: 'tests@copse.test',
  GIT_COMMITTER_NAME: 'Copse tests',
  GIT_COMMITTER_EMAIL: 'tests@copse.test',
}

/**
 * Runs several git commands in one shell, because starting a process takes a large test process ten times as long.
 */
const script = {
  init: 'git init --quiet --initial-branch=main && printf %s "$1" >> .git/config',
  commit: 'git add --all && git commit --quiet --allow-empty --message "$0"',
  id: 'git rev-parse HEAD',
}
const settings = '[user]\n\tname = Copse tests\n\temail = tests@copse.test\n[commit]\n\tgpgsign = false\n'

/**
 * Creates a repository on branch `main`. With `files` (default: one README) it has one commit; with `files: null` it
 * has none. `name` is the checkout folder's name, for paths with spaces and the like.
 */
export async function createTestRepository(
  options: {
    readonly files?: Readonly<Record<string, string | Uint8Array>> | null
    readonly name?: string
    /** The folder in which its own is created; by default the system's for temporary files. */
    readonly within?: string
  } = {},
): Promise<TestRepository> {
  const home = await realpath(await mkdtemp(join(options.within ?? tmpdir(), 'copse-git-')))
  const path = join(home, options.name ?? 'repository')
  const beside = join(home, 'beside')
  await mkdir(path, { recursive: true })
  await mkdir(beside)

  const run = async (program: string, args: readonly string[], { cwd = path, env = {} } = {}) => {
    const { stdout } = await execute(program, [...args], {
      cwd,
      env: { ...process.env, ...testGitEnvironment, ...env },
      maxBuffer: 256 * 1024 * 1024,
    })
    return stdout.replace(/\n$/, '')
  }
  const write: TestRepository['write'] = async (files, cwd = path) => {
    for (const [name, content] of Object.entries(files)) {
      const target = join(cwd, name)
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, content)
    }
  }
  const commit: TestRepository['commit'] = async (message, files, cwd = path) => {
    await write(files, cwd)
    return run('sh', ['-c', `${script.commit} && ${script.id}`, message], { cwd })
  }

  const { files } = options
  if (files === undefined) {
    usualFiles ??= makeUsualFiles()
    for (const [name, content] of await usualFiles) {
      if (content === null) mkdirSync(join(path, name))
      else writeFileSync(join(path, name), content)
    }
  } else {
    await write(files ?? {})
    await run('sh', [
      '-c',
      files === null ? script.init : `${script.init} && ${script.commit}`,
      'First commit',
      settings,
    ])
  }

  return {
    path,
    beside,
    git: (args, where) => run('git', args, where),
    write,
    commit,
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true, maxRetries: 3 }),
  }
}

let usualFiles: Promise<ReadonlyMap<string, Buffer | null>> | undefined

/** Returns the files of the default repository, null for a folder: git takes ten times as long to create it. */
async function makeUsualFiles(): Promise<ReadonlyMap<string, Buffer | null>> {
  await using repository = await createTestRepository({ files: { 'README.md': '# Example\n' } })
  const entries = readdirSync(repository.path, { recursive: true, withFileTypes: true })
  return new Map(
    entries.map((entry) => {
      const file = join(entry.parentPath, entry.name)
      return [relative(repository.path, file), entry.isDirectory() ? null : readFileSync(file)]
    }),
  )
}
