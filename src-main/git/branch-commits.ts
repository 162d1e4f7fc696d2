import type { BranchCommit } from '../../src-shared/contract/workspaces.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { BranchMessage, DiffQuery, FileDiff } from '../ports/diff-reader.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import { isAncestor, resolveCommit } from './commands/branch.ts'
import { readPatch } from './commands/diff.ts'
import { emptyTree } from './commands/merge.ts'
import { runGit } from './commands/run-git.ts'
import { findSides } from './read-diff.ts'

const maxCommits = 500
const format = '%H%x00%P%x00%an%x00%at%x00%s'

/** Reads the commits of a branch, see `DiffReader.commits`. */
export async function readCommits(ref: BranchRef, { signal }: Cancellable): Promise<readonly BranchCommit[]> {
  const { cwd, base, head } = await findSides(ref, 'branch', { signal, since: null })
  if (head === null || head === base) return []
  const range = base === null ? [head] : [head, `^${base}`]
  const args = ['log', '-z', '-n', String(maxCommits), '--no-show-signature', '--encoding=UTF-8', `--format=${format}`]
  const { stdout } = await runGit(cwd, [...args, ...range, '--'], { signal })
  const fields = stdout.toString('utf8').split('\0')
  const commits: BranchCommit[] = []
  for (let at = 0; at + 4 < fields.length; at += 5) {
    const [id = '', parents = '', author = '', seconds = '', subject = ''] = fields.slice(at, at + 5)
    commits.push({
      id,
      subject,
      author,
      authored_at: new Date(Number(seconds) * 1000).toISOString(),
      is_merge: parents.includes(' '),
    })
  }
  return commits
}

/** Reads the messages of a branch's commits, see `DiffReader.messages`. */
export async function readMessages(ref: BranchRef, { signal }: Cancellable): Promise<readonly BranchMessage[]> {
  const { cwd, base, head } = await findSides(ref, 'branch', { signal, since: null })
  if (head === null || head === base) return []
  const range = base === null ? [head] : [head, `^${base}`]
  const args = ['log', '-z', '-n', String(maxCommits), '--no-show-signature', '--encoding=UTF-8', '--format=%H%n%B']
  const { stdout } = await runGit(cwd, [...args, ...range, '--'], { signal })
  const records = stdout.toString('utf8').split('\0')
  return records
    .filter((one) => one !== '')
    .map((one) => ({ id: one.slice(0, one.indexOf('\n')), message: one.slice(one.indexOf('\n') + 1) }))
}

/** Reads the changes of one commit, see `DiffReader.commitDiff`. */
export async function readCommitDiff(
  ref: BranchRef,
  commit: string,
  file: string | null,
  { signal, ignore_whitespace = false }: Cancellable & DiffQuery,
): Promise<FileDiff | null> {
  const { cwd, head } = await findSides(ref, 'branch', { signal, since: null })
  const id = await resolveCommit(cwd, commit, { signal })
  if (id === null || head === null || !(await isAncestor(cwd, id, head, { signal }))) return null
  const base = await resolveCommit(cwd, `${id}^1`, { signal })
  const from = base ?? (await emptyTree(cwd, { signal }))
  const sides = { cwd, from, to: id, env: {}, unread: [] }
  const { diff } = await readPatch(sides, { signal, file, ignore_whitespace })
  return { base, head: id, tree: null, ...diff }
}
