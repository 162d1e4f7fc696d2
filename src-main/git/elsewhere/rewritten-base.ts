import type { BranchRef } from '../../ports/branch-ref.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { WorkElsewhere } from '../../ports/work-elsewhere.ts'
import { branchRef, isAncestor, resolveBase, resolveCommit } from '../commands/branch.ts'
import { peekCommonDir, peekTip } from '../commands/peek.ts'
import { readGit } from '../commands/run-git.ts'

const maxNamed = 50

/** See `WorkElsewhere.rewrittenBase`. Starts no git while the base is where the branch began. */
export async function readRewrittenBase(
  { repo_path: repo, branch, base_branch: base, base_commit: start }: BranchRef,
  { signal }: Cancellable,
): ReturnType<WorkElsewhere['rewrittenBase']> {
  if (start === null) return null
  const common = await peekCommonDir(repo)
  const tip = (common === null ? null : await peekTip(common, base)) ?? (await resolveBase(repo, base, { signal }))
  if (tip === null || tip === start || (await isAncestor(repo, start, tip, { signal }))) return null
  const own = await resolveCommit(repo, branchRef(branch), { signal })
  // A branch that was rebased or made again since then brings nothing back.
  if (own === null || !(await isAncestor(repo, start, own, { signal }))) return null
  const args = ['log', `--max-count=${maxNamed}`, '--no-show-signature', '--format=%H %s', start, `^${tip}`, '--']
  const out = await readGit(repo, args, { signal })
  const lines = out === '' ? [] : out.split('\n')
  return lines.length === 0
    ? null
    : {
        kind: 'base_rewritten',
        commits: lines.map((line) => line.split(' ', 1)[0] ?? ''),
        subjects: lines.map((line) => line.slice(line.indexOf(' ') + 1)),
      }
}
