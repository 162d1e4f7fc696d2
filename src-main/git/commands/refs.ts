import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { Tip } from '../../ports/target-mover.ts'
import { branchRef } from './branch.ts'
import { noteOwnMove } from './own-moves.ts'
import { isSymbolic, peekCommonDir, peekTip, peekTips, usesFiles } from './peek.ts'
import { peekCommits } from './peek-commit.ts'
import { readGit, runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

/** Reads the tips of those branches that exist. */
export async function readTips(
  cwd: string,
  branches: readonly string[],
  { signal }: Options,
): Promise<ReadonlyMap<string, Tip>> {
  const peeked = await peekWholeTips(cwd, branches)
  if (peeked !== null) return peeked
  const format = '--format=%(objectname)%00%(tree)%00%(parent)%00%(refname)'
  const out = await readGit(cwd, ['for-each-ref', format, ...branches.map(branchRef)], { signal })
  const tips = new Map<string, Tip>()
  for (const line of out.split('\n')) {
    const [commit = '', tree = '', parents = '', ref = ''] = line.split('\0')
    // A ref pattern also matches branches below that name, so compare the full name.
    const branch = branches.find((name) => branchRef(name) === ref)
    if (branch !== undefined) tips.set(branch, { commit, tree, parents: parents.split(' ').filter(Boolean) })
  }
  return tips
}

/** null: git must be asked. */
async function peekWholeTips(cwd: string, branches: readonly string[]): Promise<ReadonlyMap<string, Tip> | null> {
  const common = await peekCommonDir(cwd)
  const tips = common === null ? null : await peekTips(common, branches)
  const commits = common === null || tips === null ? null : await peekCommits(common, [...tips.values()])
  if (tips === null || commits === null) return null
  const found = new Map<string, Tip>()
  for (const [branch, id] of tips) {
    const tip = commits.get(id)
    if (tip !== undefined) found.set(branch, tip)
  }
  return found
}

/** Reads the data of commits, in their order. */
export async function readCommits<const T extends readonly string[]>(
  cwd: string,
  commits: T,
  { signal }: Options,
): Promise<{ readonly [K in keyof T]: Tip }> {
  const all = [...new Set<string>(commits)]
  const common = await peekCommonDir(cwd)
  const read = (common === null ? null : await peekCommits(common, all)) ?? (await logCommits(cwd, all, { signal }))
  return commits.map((commit) => read.get(commit)) as { readonly [K in keyof T]: Tip }
}

/** Reads the data of different commits. */
async function logCommits(
  cwd: string,
  commits: readonly string[],
  { signal }: Options,
): Promise<ReadonlyMap<string, Tip>> {
  const args = ['log', '--no-walk=unsorted', '--no-show-signature', '--format=%H%x00%T%x00%P', '--end-of-options']
  const lines = (await readGit(cwd, [...args, ...commits], { signal })).split('\n')
  return new Map(
    commits.map((asked, index) => {
      const [commit = '', tree = '', parents = ''] = lines[index]?.split('\0') ?? []
      return [asked, { commit, tree, parents: parents.split(' ').filter(Boolean) }]
    }),
  )
}

/** Returns the tip of a branch of a repository; null if there is no such branch. */
export async function tipOf(repo: string, branch: string, { signal }: Options): Promise<string | null> {
  const common = await peekCommonDir(repo)
  const peeked = common === null ? null : await peekTip(common, branch)
  return peeked ?? (await readTips(repo, [branch], { signal })).get(branch)?.commit ?? null
}

/**
 * Returns the branch that is moved when a commit is put on this one: another one if it is a symbolic ref. Checkouts are
 * found by that name alone.
 */
export async function actualBranch(repo: string, branch: string, { signal }: Options): Promise<string> {
  const common = await peekCommonDir(repo)
  const isFiles = common !== null && /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(branch) && (await usesFiles(common))
  if (isFiles && !(await isSymbolic(common, branch))) return branch
  const args = ['symbolic-ref', '--quiet', branchRef(branch)]
  const { exit_code, stdout } = await runGit(repo, args, { signal, accept: [0, 1, 128] })
  const ref = stdout.toString('utf8').trim()
  if (exit_code !== 0 || ref === '') return branch
  if (ref.startsWith(branchRef(''))) return ref.slice(branchRef('').length)
  throw new WorkspaceError(
    'git_failed',
    `${branch} is a symbolic ref to ${ref}, which is no branch. Choose a branch as base, then try again.`,
  )
}

/**
 * Moves a branch only if it points at `from`. Returns null if it did, else git's message: the branch points
 * elsewhere,
 * another process is moving it, or a hook of the repository forbids it.
 */
export async function swapBranch(
  cwd: string,
  branch: string,
  move: { readonly to: string; readonly from: string; readonly reason: string },
  { signal }: Options,
): Promise<string | null> {
  noteOwnMove(branchRef(branch), move.to)
  const args = ['update-ref', '--no-deref', '-m', move.reason, branchRef(branch), move.to, move.from]
  const options = { signal, access: 'write', hooks: 'run', accept: [0, 1, 128] } as const
  const { exit_code, stderr } = await runGit(cwd, args, options)
  return exit_code === 0 ? null : stderr.trim()
}

/** Deletes a ref only if it points at `from`; leaves any other without an error. */
export async function deleteRef(cwd: string, ref: string, from: string, { signal }: Options): Promise<void> {
  noteOwnMove(ref, null)
  await runGit(cwd, ['update-ref', '--no-deref', '-d', ref, from], { signal, access: 'write', accept: [0, 1, 128] })
}
