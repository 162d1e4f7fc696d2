import type { Cancellable } from '../../ports/cancellable.ts'
import { quoteName } from '../commands/raw-changes.ts'
import { runGit } from '../commands/run-git.ts'
import type { UncommittedPaths } from './uncommitted.ts'
import type { ObjectFolder } from './object-folder.ts'

export interface NewCommit {
  /** Its first parent, whose files it has but for what follows. */
  readonly from: string
  readonly merge?: string
  /** All of its files, in place of the parent's. */
  readonly tree?: string
  readonly changes?: UncommittedPaths
}

/** Writes commits into the folder, all by one process: it reads only the trees that change. Returns their ids. */
export async function writeCommits(
  folder: ObjectFolder,
  commits: readonly NewCommit[],
  { signal }: Cancellable,
): Promise<readonly string[]> {
  if (commits.length === 0) return []
  const input = Buffer.concat([text('feature done\n'), ...commits.flatMap(describe), text('done\n')])
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: folder.env['GIT_ALTERNATE_OBJECT_DIRECTORIES'] ?? '' }
  const args = ['--git-dir', folder.git_dir, 'fast-import', '--quiet', '--force']
  const { stdout } = await runGit(folder.git_dir, args, { signal, env, input, access: 'write' })
  return stdout.toString('utf8').trimEnd().split('\n')
}

function describe({ from, merge, tree, changes }: NewCommit, number: number): readonly Buffer[] {
  const head = `commit refs/copse/work\nmark :${number + 1}\ncommitter Copse <copse@localhost> 0 +0000\ndata 0\nfrom ${from}\n`
  const pieces = [text(head)]
  if (merge !== undefined) pieces.push(text(`merge ${merge}\n`))
  if (tree !== undefined) pieces.push(text(`M 040000 ${tree} ""\n`))
  const entries = [...(changes ?? [])]
  // First the deletions: a file may have taken the place of a folder.
  for (const [key, { kind }] of entries) if (kind === 'deleted') pieces.push(text(`D ${quoted(key)}\n`))
  for (const [key, entry] of entries) {
    if (entry.kind === 'object') pieces.push(text(`M ${entry.mode} ${entry.id} ${quoted(key)}\n`))
    if (entry.kind === 'inline') {
      pieces.push(text(`M ${entry.mode} inline ${quoted(key)}\ndata ${entry.data.length}\n`), entry.data, text('\n'))
    }
  }
  pieces.push(text(`get-mark :${number + 1}\n`))
  return pieces
}

const quoted = (key: string): string => quoteName('', Buffer.from(key, 'latin1'))
const text = (value: string): Buffer => Buffer.from(value, 'latin1')
