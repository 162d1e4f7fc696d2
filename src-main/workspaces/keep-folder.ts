import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RemovedOrphan } from '../../src-shared/contract/orphans.ts'
import { WorkspaceError } from '../engine/workspace-port.ts'
import { commitTree } from './git/commit.ts'
import { countChanged } from './git/count-files.ts'
import { emptyTree } from './git/merge.ts'
import { readGit, runGit } from './git/run-git.ts'
import { allButLock } from './git/status.ts'
import { commonDir } from './git/worktree.ts'
import type { RemoveOptions } from './remove-worktree.ts'
import { keepCommit } from './rescue.ts'

/**
 * Keeps the files of a plain folder as a rescue of a repository, then removes the folder. Files that a `.gitignore`
 * in it names are not kept. Refuses a folder that commits can't hold: with repositories in it, or unreadable files.
 */
export async function keepFolder(
  path: string,
  repo: string,
  task: string,
  options: RemoveOptions,
): Promise<Pick<RemovedOrphan, 'rescues' | 'moved_to'>> {
  const { signal } = options
  const common = await commonDir(repo, { signal })
  const temporary = await mkdtemp(join(tmpdir(), 'copse-folder-'))
  try {
    const env = { GIT_INDEX_FILE: join(temporary, 'index') }
    const own = ['--git-dir', common, '--work-tree', path, '-c', 'core.bare=false']
    // A file `.git` at the top is the link of a worktree whose repository forgot it.
    const repositories = (await readdir(path, { recursive: true, withFileTypes: true })).filter(
      (entry) => entry.name === '.git' && (entry.parentPath !== path || entry.isDirectory()),
    )
    const add = [...own, 'add', '--all', '--ignore-errors', '--', ...allButLock]
    const added = await runGit(path, add, { signal, env, access: 'write', accept: [0, 1] })
    if (added.exit_code !== 0 || repositories.length > 0) throw notKept(path)
    const tree = await readGit(path, [...own, 'write-tree'], { signal, env, access: 'write' })
    const empty = await emptyTree(repo, { signal })
    if (tree === empty) {
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
      return { rescues: [], moved_to: null }
    }
    const message = `What was in a folder left over from task ${task}\n`
    const commit = await commitTree(repo, { tree, parents: [], message }, { signal })
    const files = await countChanged(repo, empty, tree, { signal })
    const note = { kind: 'commits', files } as const
    const ref = await keepCommit(repo, commit, task, { ...options, reason: 'removal', note })
    signal.throwIfAborted()
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
    return { rescues: [ref], moved_to: null }
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

function notKept(path: string): WorkspaceError {
  return new WorkspaceError(
    'not_a_git_repository',
    `${path} holds repositories or files that could not be kept, so nothing was removed. ` +
      'Look through it and delete it by hand.',
  )
}
