import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cancellable } from '../../ports/cancellable.ts'
import { resolveCommit } from '../commands/branch.ts'
import { GitError } from '../commands/git-error.ts'
import { noteOwnMove } from '../commands/own-moves.ts'
import { runGit } from '../commands/run-git.ts'
import { cleanRecord } from './clean-record.ts'
import { leftOf, leftPrefix } from './left-refs.ts'
import { viewFolders } from './make-view.ts'
import { nameFromFiles, readRefs, resolveRef } from './ref-files.ts'
import { takeObjects, type ObjectsPlace } from './take-objects.ts'
import { branchOf, type ViewPlace } from './view-place.ts'
import { readPlain, writePlain } from '../files/plain-file.ts'

/** A view while runs have it. */
export interface OpenView {
  readonly place: ViewPlace
  readonly folder: string
  /** The refs with which it began. */
  readonly start: ReadonlyMap<string, string>
  /** Refs below `refs/svc/left` that stand for what is in the view. */
  readonly left: Map<string, string>
  /** The commit of the own branch when it was last taken over. */
  tip: string | null
  /** Objects that were taken over. */
  readonly taken: Set<string>
  users: number
}

/**
 * Takes what runs made in a view into its repository: new objects, the own branch and, below `refs/svc/left`, other
 * branches and the stash. Returns the paths in the common git folder of what could not be taken.
 */
export async function takeOver(view: OpenView, { signal }: Cancellable): Promise<readonly string[]> {
  const { place, start, tip } = view
  const { git, unchecked } = viewFolders(view.folder)
  await cleanRecord(place.record)
  // Refs first: whatever they lead to was written before them.
  const refs = await readRefs(git)
  const now = place.own === null ? null : resolveRef(refs, place.own)
  // A worktree without a branch of its own belongs to no task, which could ask for what is left.
  const left = place.own === null ? new Map<string, string>() : await leftOf(place, git, { refs, start })
  const objects: ObjectsPlace = { common: place.common, objects: join(git, 'objects'), unchecked, taken: view.taken }
  const wanted = { own: now !== null && now !== tip ? now : null, left }
  if (!(await takeTips(view, objects, await tipsOf(view, wanted), { signal }))) {
    const own = wanted.own !== null && (await takeTips(view, objects, [wanted.own], { signal })) ? wanted.own : null
    const refused = [...left.keys()].filter((ref) => left.get(ref) !== view.left.get(ref))
    const lost = wanted.own !== null && own === null && place.own !== null ? [place.own] : []
    return [
      ...[...lost, ...refused].map(nameFromFiles),
      ...(await moveRefs(view, { own, left: view.left }, { signal })),
    ]
  }
  return await moveRefs(view, wanted, { signal })
}

interface Wanted {
  /** The commit that the own branch moves to. */
  readonly own: string | null
  readonly left: ReadonlyMap<string, string>
}

/** Returns the new commits that have to be in the repository, also that of a detached HEAD. */
async function tipsOf({ place, left: known }: OpenView, { own, left }: Wanted): Promise<readonly string[]> {
  const head = (await readPlain(join(place.record, 'HEAD'), 'latin1'))?.trim() ?? ''
  const detached = /^[0-9a-f]{40,64}$/.test(head) ? [head] : []
  const others = [...left].flatMap(([ref, commit]) => (known.get(ref) === commit ? [] : [commit]))
  return [...new Set([...(own === null ? [] : [own]), ...others, ...detached])]
}

const maxKnown = 500

async function takeTips(view: OpenView, objects: ObjectsPlace, tips: readonly string[], options: Cancellable) {
  const known = new Set([...(view.tip === null ? [] : [view.tip]), ...[...view.start.values()].slice(0, maxKnown)])
  return await takeObjects(objects, tips, [...known], options)
}

interface RefMove {
  readonly ref: string
  readonly to: string | null
  /** null: whatever it is. */
  readonly from: string | null
}

const maxTries = 4

/** Moves the refs in one transaction, or as many as can be moved; returns the others. */
async function moveRefs(view: OpenView, { own, left }: Wanted, { signal }: Cancellable): Promise<readonly string[]> {
  const { place } = view
  const moves: RefMove[] = []
  if (own !== null && place.own !== null) moves.push({ ref: place.own, to: own, from: view.tip })
  // A deleted name may be a folder of a new one.
  for (const [ref, commit] of view.left) if (!left.has(ref)) moves.push({ ref, to: null, from: commit })
  for (const [ref, commit] of left) if (view.left.get(ref) !== commit) moves.push({ ref, to: commit, from: null })
  if (moves.length === 0) return []
  const failed: RefMove[] = []
  if (!(await tryMoves(place.common, moves, { signal })))
    for (const move of moves) if (!(await moveOne(view, move, { signal }))) failed.push(move)
  for (const { ref, to } of moves.filter((move) => !failed.includes(move))) {
    // Otherwise it would pass for a move by another run that goes on at the same time.
    noteOwnMove(nameFromFiles(ref), to)
    if (ref === place.own) view.tip = to
    else if (to === null) view.left.delete(ref)
    else view.left.set(ref, to)
  }
  return failed.map(({ ref }) => nameFromFiles(ref))
}

/** Moves a ref while another process may hold it; an own branch that was moved outside becomes a left one. */
async function moveOne(view: OpenView, move: RefMove, { signal }: Cancellable): Promise<boolean> {
  const { common, own, worktree } = view.place
  for (let tries = 1; tries <= maxTries; tries++) {
    if (await tryMoves(common, [move], { signal })) return true
    if (move.ref !== own || move.to === null) return false
    const outside = await resolveCommit(common, nameFromFiles(own), { signal })
    if (outside !== view.tip && outside !== null) {
      const ref = leftPrefix(worktree) + own.slice('refs/'.length)
      await tryMoves(common, [{ ref, to: move.to, from: null }], { signal })
      return false
    }
    await delay(50 * tries, undefined, { signal })
  }
  return false
}

async function tryMoves(common: string, moves: readonly RefMove[], { signal }: Cancellable): Promise<boolean> {
  const zero = '0'.repeat(moves.find(({ to }) => to !== null)?.to?.length ?? 40)
  const input = moves
    .map(({ ref, to, from }) =>
      to === null
        ? `delete ${ref}\0${from ?? ''}\0`
        : `update ${ref}\0${to}\0${ref.startsWith('refs/svc/') ? '' : (from ?? zero)}\0`,
    )
    .join('')
  const args = ['--git-dir', common, 'update-ref', '--no-deref', '-m', 'copse: take over', '--stdin', '-z']
  try {
    await runGit(common, args, { signal, access: 'write', input: Buffer.from(input, 'latin1') })
    return true
  } catch (error) {
    if (!(error instanceof GitError) || signal.aborted) throw error
    return false
  }
}

/**
 * Leaves the worktree, once its runs have ended, on a HEAD that the repository knows: on its own branch, or detached
 * where it is on a branch that is another one in the view.
 */
export async function settleHead({ place, folder }: OpenView, { signal }: Cancellable): Promise<void> {
  const { record, common, own } = place
  const ref = await branchOf(record)
  if (own === null || ref === own) return
  const refs = await readRefs(viewFolders(folder).git)
  const inside = ref === null ? null : resolveRef(refs, ref)
  if (ref === null) {
    // A detached HEAD, or none.
    const commit = (await readPlain(join(record, 'HEAD'), 'latin1'))?.trim() ?? ''
    const isKnown = /^[0-9a-f]{40,64}$/.test(commit) && (await resolveCommit(common, commit, { signal })) !== null
    if (!isKnown) await writeHead(record, `ref: ${own}`)
    return
  }
  if (inside !== null && (await resolveCommit(common, nameFromFiles(ref), { signal })) === inside) return
  const isTaken = inside !== null && (await resolveCommit(common, inside, { signal })) !== null
  await writeHead(record, isTaken ? inside : `ref: ${own}`)
}

/** Replaces HEAD, whatever is there: a run may have made it a link. */
async function writeHead(record: string, value: string): Promise<void> {
  const file = join(record, 'HEAD.copse')
  await writePlain(file, `${value}\n`, 'latin1')
  await rename(file, join(record, 'HEAD'))
}
