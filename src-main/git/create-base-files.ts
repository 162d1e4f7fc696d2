import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Cancellable } from '../ports/cancellable.ts'
import type { BaseEntry, BaseFiles } from '../ports/base-files.ts'
import { knownMergeBase, resolveBase, resolveCommit } from './commands/branch.ts'
import { readTexts } from './commands/read-texts.ts'
import { readGit, runGit, splitNul } from './commands/run-git.ts'
import { asWorkspaceError } from './workspace-errors.ts'

/** Implements the reading of commits. */
export function createBaseFiles(): BaseFiles {
  return {
    isWorktreeOf: (worktree, repo_path, options) =>
      asWorkspaceError(
        (async () => {
          const [own, other] = await Promise.all([worktree, repo_path].map((path) => commonFolder(path, options)))
          return own === other
        })(),
      ),
    commitOf: ({ repo_path, lands_on, base_commit }, options) =>
      asWorkspaceError(
        (async () => {
          const tip = await resolveBase(repo_path, lands_on, options)
          const start = base_commit === null ? null : await resolveCommit(repo_path, base_commit, options)
          if (tip === null || start === null) return tip
          return (await knownMergeBase(repo_path, start, tip, options)) ?? tip
        })(),
      ),
    list: ({ repo_path, commit }, paths, { signal }) =>
      asWorkspaceError(
        (async () => {
          const named = paths.includes('') ? [] : ['--', ...paths]
          const { stdout } = await runGit(repo_path, ['ls-tree', '-r', '-t', '-z', '--full-tree', commit, ...named], {
            signal,
          })
          return splitNul(stdout).map(entryOf)
        })(),
      ),
    read: ({ repo_path }, { id }, { signal }) =>
      asWorkspaceError(readTexts(repo_path, [id], { signal, env: {} }).then((texts) => texts.get(id) ?? null)),
  }
}

const commonFolder = async (path: string, { signal }: Cancellable): Promise<string> =>
  await realpath(resolve(path, await readGit(path, ['rev-parse', '--git-common-dir'], { signal })))

/** Reads a line of `ls-tree`: mode, type and id, then the path behind a tab. */
function entryOf(line: string): BaseEntry {
  const tab = line.indexOf('\t')
  const [mode = '', , id = ''] = line.slice(0, tab).split(' ')
  return { mode, id, path: line.slice(tab + 1) }
}
