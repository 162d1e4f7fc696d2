import { lstat, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { RepositoryInfo } from '../ports/repository-reader.ts'
import { orNull } from './files/file-errors.ts'
import { listBranches, resolveCommit } from './commands/branch.ts'
import { runGit } from './commands/run-git.ts'
import { listWorktrees } from './commands/worktree.ts'

/**
 * Returns the facts about a repository, found from any folder inside it. Throws `WorkspaceError` with a way to fix
 * it.
 */
export async function inspectRepository(given: string, { signal }: Cancellable): Promise<RepositoryInfo> {
  const path = await realFolder(given)
  const root = await findRoot(path, { signal })
  const { branches, current } = await listBranches(root, { signal })
  const [first] = branches
  if (first === undefined) throw noBranch(root, await resolveCommit(root, 'HEAD', { signal }))
  const preferred = [current, 'main', 'master'].find((name) => name !== null && branches.includes(name))
  return { root, name: repositoryName(root), default_branch: preferred ?? first, branches }
}

/** Returns the URLs of the remotes, as git would use them. */
export async function listRemoteUrls(repo: string, { signal }: Cancellable): Promise<readonly string[]> {
  const { stdout } = await runGit(repo, ['remote', '--verbose'], { signal })
  const urls = stdout.toString('utf8').split('\n')
  return [...new Set(urls.flatMap((line) => /^[^\t]*\t(.*) \((?:fetch|push)\)/.exec(line)?.[1] ?? []))]
}

/** Returns the repository's name; for a bare one hidden beside its worktrees, the name of their common folder. */
function repositoryName(root: string): string {
  const name = basename(root)
  return name === '.bare' || name === '.git' ? basename(dirname(root)) : name.replace(/\.git$/, '')
}

async function realFolder(given: string): Promise<string> {
  const expanded = given === '~' || /^~[/\\]/.test(given) ? join(homedir(), given.slice(1)) : given
  const path = await orNull(realpath(expanded))
  if (path === null) throw notARepository(`No folder at ${expanded}. Check the path.`)
  if (!(await stat(path)).isDirectory())
    throw notARepository(`${path} is a file. Choose the folder of a git repository.`)
  return path
}

/** Returns the main worktree's root, also from a linked worktree; for a bare repository, the repository itself. */
async function findRoot(path: string, { signal }: Cancellable): Promise<string> {
  const asked = ['--is-bare-repository', '--git-common-dir', '--absolute-git-dir', '--show-toplevel']
  const { exit_code, stdout, stderr } = await runGit(path, ['rev-parse', '--path-format=absolute', ...asked], {
    signal,
    accept: [0, 128],
  })
  // A path may contain line breaks, so the repository's own folder is recognised by being printed twice.
  const [, bare, paths = ''] = /^(true|false)\n(.*)$/s.exec(stdout.toString('utf8')) ?? []
  if (bare === undefined) throw await noRepository(path, stderr)
  const [, common, toplevel = ''] = /^(.*)\n\1\n(.*)$/s.exec(paths) ?? []
  if (common === undefined) {
    const [main] = await listWorktrees(path, { signal })
    return main?.path ?? path
  }
  if (bare === 'true') return common
  // 128: there is no top level inside `.git`.
  return exit_code === 0 ? toplevel.replace(/\n$/, '') : dirname(common)
}

async function noRepository(path: string, stderr: string): Promise<WorkspaceError> {
  const foreign = await foreignRepository(path)
  if (foreign !== null) return notTrusted(foreign)
  const why = stderr.split('\n').find((line) => line.startsWith('fatal:')) ?? ''
  const message = `${path} is not in a git repository. Run "git init" there or give another folder. (${why})`
  return notARepository(message, 'git init')
}

/**
 * Returns the repository around a folder if it belongs to another user: git refuses to read it, even if it is intact.
 */
async function foreignRepository(path: string): Promise<string | null> {
  const me = process.geteuid?.()
  if (me === undefined) return null
  for (let folder = path; ; folder = dirname(folder)) {
    const git = await orNull(lstat(join(folder, '.git')))
    const isBare = (await orNull(stat(join(folder, 'HEAD')))) !== null
    if (git !== null || isBare)
      return [git?.uid ?? me, (await stat(folder)).uid].every((uid) => uid === me) ? null : folder
    if (dirname(folder) === folder) return null
  }
}

function notTrusted(folder: string): WorkspaceError {
  const command = `git config --global --add safe.directory '${folder}'`
  const message =
    `${folder} belongs to another user of this machine, so git does not work in it. ` +
    `If you trust what is in it, run \`${command}\`, then try again.`
  return notARepository(message, command)
}

function noBranch(root: string, head: string | null): WorkspaceError {
  const [message, command] =
    head === null
      ? [
          `The repository ${root} has no branch with a commit yet. Make a first commit, then try again.`,
          'git commit --allow-empty -m "Start"',
        ]
      : [
          `The repository ${root} is on a commit and has no branch. Run "git switch -c main" there, then try again.`,
          'git switch -c main',
        ]
  return new WorkspaceError('repository_has_no_commits', message, { command })
}

function notARepository(message: string, command?: string): WorkspaceError {
  return new WorkspaceError('not_a_git_repository', message, command === undefined ? {} : { command })
}
