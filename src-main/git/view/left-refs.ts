import { lstat, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { peekNoRefs } from '../commands/peek.ts'
import { readGit } from '../commands/run-git.ts'
import { orNull } from '../files/file-errors.ts'
import { isRefName, resolveRef, type Refs } from './ref-files.ts'
import type { ViewPlace } from './view-place.ts'

// What a run left beside its own branch, as refs of the repository below `refs/svc/left/<worktree>/`: branches under
// `heads/<name>`, entries of its stash under `stash/<commit>`.

const maxLeft = 1_000

/** Returns the prefix of the refs that runs in this worktree left. */
export const leftPrefix = (worktree: string): string => `refs/svc/left/${basename(worktree)}/`

/** Lists the refs that runs in a worktree left, with their commits. Starts git only if there are any. */
export async function listLeft(
  repo: string,
  common: string,
  worktree: string,
  { signal }: Cancellable,
): Promise<ReadonlyMap<string, string>> {
  const prefix = leftPrefix(worktree)
  if (await peekNoRefs(common, prefix)) return new Map()
  const out = await readGit(repo, ['for-each-ref', '--format=%(refname) %(objectname)', prefix], { signal })
  const lines = out.split('\n').filter(Boolean)
  return new Map(lines.map((line) => line.split(' ') as [string, string]))
}

/** Returns what earlier runs left: branches by their refs in a view, and entries of the stash. */
export function leftIn(
  refs: ReadonlyMap<string, string>,
  { worktree }: Pick<ViewPlace, 'worktree'>,
): { readonly heads: ReadonlyMap<string, string>; readonly stash: readonly string[] } {
  const prefix = leftPrefix(worktree)
  const heads = new Map<string, string>()
  const stash: string[] = []
  for (const [ref, commit] of refs) {
    if (ref.startsWith(`${prefix}heads/`)) heads.set(`refs/${ref.slice(prefix.length)}`, commit)
    else if (ref.startsWith(`${prefix}stash/`)) stash.push(commit)
  }
  return { heads, stash }
}

/** Returns the refs for what a view has besides the own branch and the refs with which it began. */
export async function leftOf(
  { worktree, own }: ViewPlace,
  git: string,
  { refs, start }: { readonly refs: Refs; readonly start: ReadonlyMap<string, string> },
): Promise<ReadonlyMap<string, string>> {
  const prefix = leftPrefix(worktree)
  const left = new Map<string, string>()
  for (const ref of [...refs.ids.keys(), ...refs.symbolic.keys()]) {
    const commit = ref.startsWith('refs/heads/') && ref !== own && isRefName(ref) ? resolveRef(refs, ref) : null
    if (commit !== null && commit !== start.get(ref) && left.size < maxLeft)
      left.set(prefix + ref.slice('refs/'.length), commit)
  }
  for (const commit of await readStash(git, refs)) if (left.size < maxLeft) left.set(`${prefix}stash/${commit}`, commit)
  return left
}

const maxLogBytes = 1024 * 1024

/** Returns the commits on a view's stash list. */
async function readStash(git: string, refs: Refs): Promise<readonly string[]> {
  const top = refs.ids.get('refs/stash')
  if (top === undefined) return []
  const file = join(git, 'logs', 'refs', 'stash')
  const found = await orNull(lstat(file))
  const isLog = found?.isFile() === true && found.size <= maxLogBytes
  const log = isLog ? ((await orNull(readFile(file, 'latin1'))) ?? '') : ''
  const logged = [...log.matchAll(/^[0-9a-f]{40,64} ([0-9a-f]{40,64}) /gm)].flatMap(([, commit]) => commit ?? [])
  return [...new Set([...logged, top])]
}
