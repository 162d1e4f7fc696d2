import type { Cancellable } from '../../ports/cancellable.ts'
import type { LandedCommit } from '../../ports/target-mover.ts'
import { mergeBase } from '../commands/branch.ts'
import { readGit, runGit } from '../commands/run-git.ts'

/** Lists the commits on a branch since another left it, newest first, by the commits' trailers. */
export async function landedSince(
  { repo_path: repo, head, tip }: { readonly repo_path: string; readonly head: string; readonly tip: string },
  { signal }: Cancellable,
): Promise<readonly LandedCommit[]> {
  const fork = await mergeBase(repo, head, tip, { signal })
  const range = fork === null ? tip : `${fork}..${tip}`
  const format = '--format=%H%x00%s%x00%(trailers:key=Copse-Task,valueonly,separator=%x2C)%x00'
  const args = ['log', '--first-parent', '--no-show-signature', '--max-count=100', format, '--end-of-options', range]
  const fields = (await readGit(repo, args, { signal })).split('\0')
  const commits: LandedCommit[] = []
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [commit = '', subject = '', task = ''] = fields.slice(at, at + 3).map((field) => field.trim())
    commits.push({ commit, subject, task_id: task.split(',')[0]?.trim() || null })
  }
  return commits
}

/** Reads the changes of a commit against its first parent, cut after `bytes`. */
export async function patchOf(repo: string, commit: string, bytes: number, { signal }: Cancellable): Promise<string> {
  const args = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--unified=2', `${commit}^1`, commit]
  const chunks: Buffer[] = []
  let size = 0
  const onOutput = (chunk: Buffer): 'more' | 'enough' => {
    chunks.push(chunk)
    size += chunk.length
    return size > bytes ? 'enough' : 'more'
  }
  await runGit(repo, args, { signal, onOutput })
  const patch = Buffer.concat(chunks).subarray(0, bytes).toString('utf8')
  return size > bytes ? `${patch}\n(cut)` : patch
}
