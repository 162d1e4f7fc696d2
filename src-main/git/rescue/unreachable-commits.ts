import { join } from 'node:path'
import { resolveCommit } from '../commands/branch.ts'
import { commitTree } from '../commands/commit.ts'
import { countLooseFiles } from '../commands/count-files.ts'
import { treeOf } from '../commands/merge.ts'
import { readGit, runGit } from '../commands/run-git.ts'
import { rescueCommit, type RescueOptions } from './rescue.ts'
import { lastTipRef } from './branch-tip.ts'
import { readPlain } from '../files/plain-file.ts'

/** Files in which git notes commits of an unfinished command, which only this worktree leads to. */
const notes = [
  'MERGE_HEAD',
  'MERGE_AUTOSTASH',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  ...['autostash', 'orig-head', 'stopped-sha'].map((name) => `rebase-merge/${name}`),
  ...['autostash', 'orig-head'].map((name) => `rebase-apply/${name}`),
]

/**
 * Keeps the commits that would be lost with a worktree: of a detached HEAD, of an unfinished merge or rebase, those
 * that only HEAD was ever on, and the last known tip of the branch. `record` is the worktree's folder in its
 * repository; the worktree itself may be gone. Returns the rescue ref, null if everything is reachable anyway.
 */
export async function rescueUnreachable(
  repo: string,
  record: string,
  task: string,
  { left = [], ...options }: RescueOptions & { readonly left?: readonly string[] },
): Promise<string | null> {
  const { signal } = options
  const gitDirArgs = ['--git-dir', record]
  const found = await Promise.all(notes.map(async (name) => readPlain(join(record, name))))
  const commits = [
    ...left,
    ...found.flatMap((text) => text?.match(/^[0-9a-f]{40,64}$/gm) ?? []),
    ...(await reflogOf(repo, [...gitDirArgs, 'log', '--walk-reflogs', '--format=%H', 'HEAD'], options)),
  ]
  for (const name of ['HEAD', lastTipRef]) {
    const { exit_code, stdout } = await runGit(
      repo,
      [...gitDirArgs, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`],
      { signal, accept: [0, 1, 128] },
    )
    if (exit_code === 0) commits.push(stdout.toString('utf8').trim())
  }
  const loose = await looseTips(repo, commits, [], options)
  if (loose.length === 0) return null
  const amended = await reflogOf(repo, ['log', '--walk-reflogs', '--format=%H', '--branches'], options)
  const tips = await looseTips(repo, commits, amended, options)
  if (tips.length === 0) return null
  const commit = await mergeTips(repo, tips, task, options)
  const files = await countLooseFiles(repo, commit, { signal })
  return await rescueCommit(repo, commit, task, { ...options, note: { kind: 'commits', files } })
}

/** Returns one commit that leads to all of these. */
export async function mergeTips(
  cwd: string,
  tips: readonly string[],
  task: string,
  { signal }: RescueOptions,
): Promise<string> {
  const [first = ''] = tips
  if (tips.length === 1) return first
  const message = `Commits that only the workspace of task ${task} led to\n`
  return await commitTree(cwd, { tree: await treeOf(cwd, first, { signal }), parents: tips, message }, { signal })
}

/** Returns which of these commits no branch, tag, rescue or `known` leads to, without ancestors of each other. */
async function looseTips(
  repo: string,
  commits: readonly string[],
  known: readonly string[],
  { signal }: RescueOptions,
): Promise<readonly string[]> {
  if (commits.length === 0) return []
  const unlessReachable = [
    '--not',
    '--branches',
    '--remotes',
    '--tags',
    '--exclude=refs/svc/left/*',
    '--glob=refs/svc/*',
    '--not',
  ]
  const input = [...new Set(commits), ...new Set(known.map((commit) => `^${commit}`))].join('\n')
  const args = ['rev-list', '--parents', '--ignore-missing', ...unlessReachable, '--stdin']
  const { stdout } = await runGit(repo, args, { signal, input: `${input}\n` })
  return tipsIn(stdout)
}

async function reflogOf(cwd: string, args: readonly string[], { signal }: RescueOptions): Promise<readonly string[]> {
  const { exit_code, stdout } = await runGit(cwd, args, { signal, accept: [0, 128] })
  return exit_code === 0 ? linesIn(stdout) : []
}

/**
 * Returns the commits of a repository that none of its remotes has: of its branches, its stash and `head`; without
 * any remote, also of tags.
 */
export async function unpublishedTips(
  cwd: string,
  head: string | null,
  { signal }: RescueOptions,
): Promise<readonly string[]> {
  const stash = await resolveCommit(cwd, 'refs/stash', { signal })
  const remotes = await readGit(cwd, ['remote'], { signal })
  const localRefs = remotes === '' ? ['--branches', '--tags'] : ['--branches']
  const published = remotes === '' ? [] : ['--not', '--remotes', '--tags']
  const args = ['rev-list', '--parents', ...localRefs, ...[head, stash].filter((one) => one !== null), ...published]
  const { stdout } = await runGit(cwd, args, { signal })
  return tipsIn(stdout)
}

/** Returns the commits in `rev-list --parents` output that are no commit's parent. */
function tipsIn(listed: Buffer): readonly string[] {
  const rows = linesIn(listed).map((line) => line.split(' '))
  const parents = new Set(rows.flatMap((row) => row.slice(1)))
  return rows.flatMap(([commit = '']) => (parents.has(commit) ? [] : [commit]))
}

function linesIn(output: Buffer): readonly string[] {
  return output
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
}
