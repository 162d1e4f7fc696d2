import type { Cancellable } from '../../ports/cancellable.ts'
import { readGit } from '../commands/run-git.ts'

/** Refs of one worktree alone, of Copse, or that git keeps for itself. */
const privateRefs = /^refs\/(?:worktree|bisect|rewritten|svc|prefetch|stash)(?:\/|$)/

/**
 * Reads the refs of a repository by their full names: each with its object, or for a symbolic ref with `ref: ` and
 * the name that it stands for. Leaves out stash, Copse's own refs, and those of a single worktree.
 */
export async function readRefs(cwd: string, { signal }: Cancellable): Promise<ReadonlyMap<string, string>> {
  const out = await readGit(cwd, ['for-each-ref', '--format=%(objectname) %(symref) %(refname)'], { signal })
  const refs = new Map<string, string>()
  for (const line of out === '' ? [] : out.split('\n')) {
    const [id = '', symbolic = '', ref = ''] = line.split(' ')
    if (!privateRefs.test(ref)) refs.set(ref, symbolic === '' ? id : `ref: ${symbolic}`)
  }
  return refs
}
