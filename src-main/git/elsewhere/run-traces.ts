import type { BranchRef } from '../../ports/branch-ref.ts'
import type { RepositoryState } from '../../ports/repository-state.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { RunTraces } from '../../ports/work-elsewhere.ts'
import type { WorkPlace } from '../../../src-shared/contract/tasks.ts'
import { branchRef, resolveCommit } from '../commands/branch.ts'
import { requireOwn } from '../commands/own-worktree.ts'
import { isOwnMove } from '../commands/own-moves.ts'
import { peekCommonDir } from '../commands/peek.ts'
import { commonDir } from '../commands/worktree.ts'
import { readGit } from '../commands/run-git.ts'
import { readRefs } from './all-refs.ts'
import { headLog, movesElsewhere, readLog, type LogLine, type LogSizes } from './head-logs.ts'
import { branchOfEntry, readStash, type StashEntry } from './stash-list.ts'
import { dirname } from 'node:path'

/** The key of the stash list in a state: its entries, separated by spaces. */
export const stashKey = 'stash'
/** The key of the time at which a state was read, in milliseconds of Unix time. */
export const timeKey = 'time'
/** The key of the `LogSizes` of the repository's checkouts, as JSON. */
export const logsKey = 'logs'

interface Traced extends Cancellable {
  readonly ref: BranchRef & { readonly path: string }
  readonly before: ReadonlyMap<string, string>
  readonly now: ReadonlyMap<string, string>
  readonly common: string
  /** The record of the task's worktree. */
  readonly record: string
  readonly since: number
  readonly sizes: LogSizes
}

interface Move {
  readonly ref: string
  readonly from: string | null
  readonly to: string | null
}

/** See `WorkElsewhere.runTraces`. */
export async function readRunTraces(
  ref: BranchRef & { readonly path: string },
  state: RepositoryState,
  { signal }: Cancellable,
): Promise<RunTraces> {
  if (state[stashKey] === undefined) return { notes: [], places: [] }
  const record = await requireOwn(ref.path, { signal })
  const common = (await peekCommonDir(ref.repo_path)) ?? (await commonDir(ref.path, { signal }))
  const before = new Map(Object.entries(state).filter(([name]) => name.startsWith('refs/')))
  const now = await readRefs(ref.path, { signal })
  const sizes = JSON.parse(state[logsKey] ?? '{}') as LogSizes
  const traced = { ref, before, now, common, record, since: Number(state[timeKey]), sizes, signal }
  const moves = listMoves(traced)
  const [notes, places] = await Promise.all([
    moves.length === 0 ? [] : judgeMoves(traced, moves),
    findStashed(traced, state[stashKey].split(' ')),
  ])
  return { notes, places }
}

function listMoves({ ref, before, now, since }: Traced): readonly Move[] {
  const names = [...new Set([...before.keys(), ...now.keys()])].sort()
  return names.flatMap((name) => {
    const move = { ref: name, from: before.get(name) ?? null, to: now.get(name) ?? null }
    // A replaced object is told as a change of the repository.
    const isOther = name !== branchRef(ref.branch) && !name.startsWith('refs/replace/')
    return isOther && move.from !== move.to && !isOwnMove(name, move.to, since) ? [move] : []
  })
}

/** Sorts out the moves that a person or another run made, and the branches with new work. */
async function judgeMoves(traced: Traced, moves: readonly Move[]): Promise<RunTraces['notes']> {
  const { ref, before, common, record, since, sizes } = traced
  const elsewhere = await movesElsewhere({ common, record, root: dirname(dirname(ref.path)), sizes }, since)
  const known = new Set(before.values())
  const notes: RunTraces['notes'][number][] = []
  for (const move of moves) {
    if (move.to !== null && elsewhere.has(move.to)) continue
    const isBranch = move.ref.startsWith('refs/heads/')
    const isSymbolic = move.to?.startsWith('ref: ') === true
    if (move.ref === branchRef(ref.base_branch)) notes.push({ kind: 'base_moved', ...move })
    else if (move.from === null && !isSymbolic) {
      const commits = isBranch ? await countNew(traced, move.ref) : 0
      if (commits > 0) notes.push({ kind: 'work_left', ref: move.ref, commits })
      else if (move.ref.startsWith('refs/tags/')) notes.push({ kind: 'refs_moved', ...move })
    } else if (move.ref.startsWith('refs/remotes/') && (move.to === null || known.has(move.to))) {
      // A push or a fetch that prunes, from anywhere, moves these to commits that are known.
    } else if (move.to === null && move.from !== null && (await isKept(traced, move.from))) {
      // Its commits are still on another ref.
    } else notes.push({ kind: 'refs_moved', ...move })
  }
  return notes
}

const maxTips = 10_000

/** Counts the commits of a ref that neither the task's branch nor a ref of before has. */
async function countNew({ ref, before, signal }: Traced, name: string): Promise<number> {
  const own = await resolveCommit(ref.path, branchRef(ref.branch), { signal })
  const tips = [...new Set(before.values())].filter((id) => !id.startsWith('ref: ')).slice(0, maxTips)
  const known = [...tips, ...(own === null ? [] : [own])].map((id) => `^${id}`)
  // On standard input, because a repository may have more refs than fit on a command line.
  const input = [name, ...known].map((line) => `${line}\n`).join('')
  return Number(await readGit(ref.path, ['rev-list', '--count', '--ignore-missing', '--stdin'], { signal, input }))
}

async function isKept({ ref, signal }: Traced, commit: string): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', `--contains=${commit}`, '--format=%(refname)']
  return (await readGit(ref.path, args, { signal, accept: [0, 129] })) !== ''
}

/** Returns the entries of the stash list that were made in the worktree since the run began. */
async function findStashed(traced: Traced, before: readonly string[]): Promise<readonly WorkPlace[]> {
  const { ref, common, record, sizes, signal } = traced
  const known = new Set(before)
  const entries = (await readStash(ref.path, common, { signal })).filter(({ id }) => !known.has(id))
  if (entries.length === 0) return []
  const log = await readLog(headLog(record), sizes[record])
  const places: WorkPlace[] = []
  for (const entry of entries) {
    const [base = '', ...others] = await parentsOf(ref.path, entry.id, { signal })
    if (!isMadeHere(entry, base, ref.branch, log)) continue
    places.push({ kind: 'stash', ref: entry.id, commits: 1, files: await countFiles(traced, entry, base, others[1]) })
  }
  return places
}

/** Git writes the branch into an entry's message; without one, the commit below it tells where it was made. */
function isMadeHere(entry: StashEntry, base: string, own: string, log: readonly LogLine[]): boolean {
  const branch = branchOfEntry(entry)
  const visited = log.flatMap(({ message }) => /^checkout: moving from (\S+) to (\S+)$/.exec(message)?.slice(1) ?? [])
  if (branch !== null) return branch === own || visited.includes(branch)
  return log.some(({ to }) => to === base)
}

async function parentsOf(cwd: string, commit: string, { signal }: Cancellable): Promise<readonly string[]> {
  return (await readGit(cwd, ['rev-parse', `${commit}^@`], { signal, accept: [0, 128] })).split('\n').filter(Boolean)
}

async function countFiles(
  { ref, signal }: Traced,
  { id }: StashEntry,
  base: string,
  untracked: string | undefined,
): Promise<number> {
  const changed = await readGit(ref.path, ['diff-tree', '-r', '--name-only', base, id], { signal })
  const added = untracked && (await readGit(ref.path, ['ls-tree', '-r', '--name-only', untracked], { signal }))
  return [changed, added ?? ''].flatMap((list) => list.split('\n').filter(Boolean)).length
}
