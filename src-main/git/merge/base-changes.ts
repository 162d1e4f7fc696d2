import type { BaseChange } from '../../../src-shared/contract/merges.ts'
import { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { knownMergeBase } from '../commands/branch.ts'
import { runGit } from '../commands/run-git.ts'

const maxFiles = 100
/** A record begins with a byte that no name has, and its names follow. */
const format = '--format=%x01%H%x00%s%x00%an%x00%ct%x00%(trailers:key=Copse-Task,valueonly,separator=%x2C)'

/** Finds the last commit on the base that changed each file since the branch left it. Merges count as one commit. */
export async function readBaseChanges(
  cwd: string,
  { head, base }: { readonly head: string; readonly base: string },
  files: readonly string[],
  { signal }: Cancellable,
): Promise<BaseChange[]> {
  const wanted = new Set(files.slice(0, maxFiles))
  if (wanted.size === 0) return []
  const fork = await knownMergeBase(cwd, base, head, { signal })
  const range = fork === null ? [base] : [base, `^${fork}`]
  const args = ['log', '-z', '--first-parent', '--diff-merges=first-parent', '--no-renames', '--name-only', format]
  const more = [
    '--no-show-signature',
    '--encoding=UTF-8',
    ...range,
    '--',
    ...[...wanted].map((path) => `:(literal)${path}`),
  ]
  const { stdout } = await runGit(cwd, [...args, ...more], { signal })
  const found = new Map<string, BaseChange>()
  for (const record of stdout.toString('utf8').split('\u0001').slice(1)) {
    const [commit = '', subject = '', author = '', seconds = '', task = '', ...names] = record.split('\0')
    const committed_at = new Date(Number(seconds) * 1000).toISOString()
    const task_id = TaskId.safeParse(task.trim()).data ?? null
    for (const name of names) {
      const path = name.replace(/^\n/, '')
      if (wanted.has(path) && !found.has(path))
        found.set(path, { path, commit, subject, author, committed_at, task_id })
    }
  }
  return [...wanted].flatMap((path) => found.get(path) ?? [])
}
