import { execFile } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** A real git repository in a temporary folder of its own; `await using` removes it. */
export interface TestRepository extends AsyncDisposable {
  /** The checkout's root, symlinks resolved. */
  readonly path: string
  /** A folder beside the checkout, for worktrees and other things a test makes. Removed with the repository. */
  readonly beside: string
  /** Runs git in the checkout (or in `cwd`) and answers its stdout without the last line end. Throws when it fails. */
  git(args: readonly string[], options?: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv }): Promise<string>
  /** Writes files (folders are made as needed) below the checkout or `cwd`. */
  write(files: Readonly<Record<string, string | Uint8Array>>, cwd?: string): Promise<void>
  /** Writes files, adds everything and commits in the checkout (or in `cwd`); answers the commit's id. */
  commit(message: string, files: Readonly<Record<string, string | Uint8Array>>, cwd?: string): Promise<string>
}

/** The environment under which tests run git: no configuration but the repository's own, a fixed identity. */
export const testGitEnvironment: Readonly<Record<string, string>> = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'Copse tests',
  GIT_AUTHOR_EMAIL: 'tests@copse.test',
  GIT_COMMITTER_NAME: 'Copse tests',
  GIT_COMMITTER_EMAIL: 'tests@copse.test',
}

const settings = '[user]\n\tname = Copse tests\n\temail = tests@copse.test\n[commit]\n\tgpgsign = false\n'

/**
 * Makes a repository on branch `main`. With `files` (default: one README) it has one commit; with
 * `files: null` it has none. `name` is the checkout folder's name, for paths with spaces and the like.
 */
export async function createTestRepository(
  options: {
    readonly files?: Readonly<Record<string, string | Uint8Array>> | null
    readonly name?: string
    /** The folder in which its own is made; by default the system's for temporary files. */
    readonly within?: string
  } = {},
): Promise<TestRepository> {
  const home = await realpath(await mkdtemp(join(options.within ?? tmpdir(), 'copse-git-')))
  const path = join(home, options.name ?? 'repository')
  const beside = join(home, 'beside')
  await mkdir(path, { recursive: true })
  await mkdir(beside)

  const git: TestRepository['git'] = async (args, { cwd = path, env = {} } = {}) => {
    const { stdout } = await execute('git', [...args], {
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
  const record = async (message: string, files: Readonly<Record<string, string | Uint8Array>>, cwd = path) => {
    await write(files, cwd)
    await git(['add', '--all'], { cwd })
    await git(['commit', '--quiet', '--allow-empty', '--message', message], { cwd })
  }
  const commit: TestRepository['commit'] = async (message, files, cwd = path) => {
    await record(message, files, cwd)
    return git(['rev-parse', 'HEAD'], { cwd })
  }

  await git(['init', '--quiet', '--initial-branch=main'])
  // As `git config` would, without a process for each of a thousand repositories' lines.
  await appendFile(join(path, '.git', 'config'), settings)
  const files = options.files === undefined ? { 'README.md': '# Example\n' } : options.files
  if (files !== null) await record('First commit', files)

  return {
    path,
    beside,
    git,
    write,
    commit,
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true, maxRetries: 3 }),
  }
}
