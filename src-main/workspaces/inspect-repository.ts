import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { realpath } from 'node:fs/promises'
import { WorkspaceError } from '../engine/workspace-port.ts'
import type { Cancellable } from '../engine/ports.ts'
import type { RepositoryInfo } from '../engine/workspace-port.ts'
import { orNull } from './file-errors.ts'
import { currentBranch, listBranches } from './git/branch.ts'
import { runGit } from './git/run-git.ts'
import { listWorktrees } from './git/worktree.ts'

/** What a repository is, found from any folder inside it. Throws `WorkspaceError` with what the person can do. */
export async function inspectRepository(given: string, { signal }: Cancellable): Promise<RepositoryInfo> {
  const path = await realFolder(given)
  const root = await findRoot(path, { signal })
  const branches = await listBranches(root, { signal })
  const [first] = branches
  if (first === undefined) {
    throw new WorkspaceError(
      'repository_has_no_commits',
      `The repository ${root} has no branch with a commit yet. Make a first commit, then try again.`,
    )
  }
  const head = await currentBranch(root, { signal })
  const preferred = [head, 'main', 'master'].find((name) => name !== null && branches.includes(name))
  return { root, name: basename(root).replace(/\.git$/, ''), default_branch: preferred ?? first, branches }
}

async function realFolder(given: string): Promise<string> {
  const expanded = given === '~' || /^~[/\\]/.test(given) ? join(homedir(), given.slice(1)) : given
  const path = await orNull(realpath(expanded))
  if (path === null) throw notARepository(`There is no folder ${expanded}. Check the path.`)
  if (!(await stat(path)).isDirectory()) throw notARepository(`${path} is a file. Give the folder of a git repository.`)
  return path
}

/** The main worktree's root, also from a linked worktree; of a bare repository, the repository itself. */
async function findRoot(path: string, { signal }: Cancellable): Promise<string> {
  const args = ['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir', '--is-bare-repository']
  const { exit_code, stdout, stderr } = await runGit(path, args, { signal, accept: [0, 128] })
  if (exit_code !== 0) {
    const why = stderr.split('\n').find((line) => line.startsWith('fatal:')) ?? ''
    throw notARepository(`${path} is not in a git repository. Run "git init" there or give another folder. (${why})`)
  }
  const [gitDir = '', common = '', bare] = stdout.toString('utf8').split('\n')
  if (bare === 'true') return common
  if (gitDir !== common) return (await listWorktrees(path, { signal }))[0]?.path ?? path
  const inside = await runGit(path, ['rev-parse', '--show-toplevel'], { signal, accept: [0, 128] })
  return inside.exit_code === 0 ? inside.stdout.toString('utf8').replace(/\n$/, '') : dirname(common)
}

function notARepository(message: string): WorkspaceError {
  return new WorkspaceError('not_a_git_repository', message)
}
