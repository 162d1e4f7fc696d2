import type { JobGrant } from '../../ports/job-access.ts'
import { branchRef } from '../commands/branch.ts'
import type { Git } from '../commands/run-git.ts'
import { isVisible, keepReplaced, latePrefix, livePrefix, moveRefs, readRefs, type RefMove } from './arrivals-folder.ts'
import { lends, PushRefusedError, type IncomingPack } from './incoming-pack.ts'
import type { PushCommand } from './push-request.ts'

/** What came of each ref: null: it moved; else a sentence for the one who pushed. */
export type RefAnswers = Map<PushCommand, string | null>

/** The most refs below `refs/svc/live`, so that no one fills the disk with names. */
const maxLive = 2_000

/** Decides by the name alone, before the pack is read. `null`: the ref may move. */
export function refuseRef(
  command: PushCommand,
  branch: string,
  grant: JobGrant,
  taken: ReadonlySet<string>,
): string | null {
  const { ref, to } = command
  if (taken.has(ref)) return 'The push names this ref twice.'
  if (grant.access === 'late') {
    if (!ref.startsWith(latePrefix))
      return 'This job has lost its lease. It may bring its work once, below refs/svc/late.'
    return to === null ? 'What a job brought late can’t be deleted.' : null
  }
  if (ref === branchRef(branch)) return to === null ? 'The task’s branch can’t be deleted.' : null
  if (ref.startsWith(livePrefix)) return null
  return `Only ${branchRef(branch)} and what is below refs/svc/live is taken here.`
}

/** A ref of a late job has the job in its name, so that it is another's only by its own push. */
const storedRef = (ref: string, { access, job_id }: JobGrant): string =>
  access === 'late' ? `${latePrefix}${job_id}/${ref.slice(latePrefix.length)}` : ref

interface Acceptance {
  readonly git: Git
  readonly folder: string
  readonly branch: string
  readonly grant: JobGrant
}

/**
 * Moves the refs of a push whose pack has arrived; each is answered. Throws `PushRefusedError` if the push leans on
 * objects that the job may not fetch: git would take an object that is merely there for one that the client has, and
 * then hand it out. Only for one push of a task at a time.
 */
export async function acceptRefs(
  { git, folder, branch, grant }: Acceptance,
  commands: readonly PushCommand[],
  pack: IncomingPack | null,
): Promise<RefAnswers> {
  const answers: RefAnswers = new Map()
  const refs = await readRefs(git)
  refuseSecondLate(refs, grant)
  const stored = (command: PushCommand): string => storedRef(command.ref, grant)
  const wanted: PushCommand[] = []
  let live = [...refs.keys()].filter((ref) => ref.startsWith(livePrefix)).length
  for (const command of commands) {
    const sentence = refuseState(command, { ref: stored(command), refs, live })
    if (sentence !== null) answers.set(command, sentence)
    else wanted.push(command)
    if (sentence === null && command.from === null) live += 1
  }
  const typed = await commitsOf(git, folder, pack, wanted)
  for (const command of wanted)
    if (command.to !== null && !typed.has(command.to)) answers.set(command, 'Only commits are taken here.')
  const left = wanted.filter((command) => !answers.has(command))
  const tips = [...refs].filter(([ref]) => isVisible(branch, ref)).map(([, id]) => id)
  const news = left.flatMap(({ to }) => to ?? [])
  if (news.length > 0) {
    await requireWhole(git, folder, { news, tips, pack })
    await pack?.checkLinks()
    grant.ended.throwIfAborted()
    await pack?.moveIn()
  }
  const moves = new Map<PushCommand, readonly RefMove[]>()
  for (const command of left) moves.set(command, await movesOf(git, command, { ref: stored(command), branch, refs }))
  grant.ended.throwIfAborted()
  const isMoved = await moveRefs(git, [...moves.values()].flat())
  for (const [command, own] of moves) {
    const alone = isMoved || (await moveRefs(git, own))
    answers.set(command, alone ? null : 'Git refuses this name, or the ref moved at the same moment.')
  }
  return answers
}

function refuseSecondLate(refs: ReadonlyMap<string, string>, grant: JobGrant): void {
  if (grant.access !== 'late') return
  const own = `${latePrefix}${grant.job_id}/`
  if ([...refs.keys()].some((ref) => ref.startsWith(own)))
    throw new PushRefusedError('This job has lost its lease and has brought its work already. Once is all.')
}

function refuseState(
  { from, to }: PushCommand,
  at: { readonly ref: string; readonly refs: ReadonlyMap<string, string>; readonly live: number },
): string | null {
  const { ref, refs, live } = at
  if ((refs.get(ref) ?? null) !== from) return 'The ref has moved. Fetch, then push again.'
  if (from === null && to === null) return 'There is no such ref.'
  if (from === null && live >= maxLive) return `There are ${maxLive} refs below refs/svc/live. Delete some first.`
  return null
}

/** Returns those of the new objects that exist and are commits. */
async function commitsOf(
  git: Git,
  folder: string,
  pack: IncomingPack | null,
  commands: readonly PushCommand[],
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(commands.flatMap(({ to }) => to ?? []))]
  if (ids.length === 0) return new Set()
  const input = asLines(ids)
  const args = ['cat-file', '--batch-check=%(objecttype)']
  const { stdout } = await git(args, { input, env: withPack(folder, pack) })
  const types = stdout.toString('utf8').split('\n')
  return new Set(ids.filter((_id, index) => types[index] === 'commit'))
}

const withPack = (folder: string, pack: IncomingPack | null): Readonly<Record<string, string>> =>
  pack === null ? {} : { GIT_OBJECT_DIRECTORY: pack.objects, ...lends(folder) }

/** Requires that each new object is in the pack, or below what the job may fetch. */
async function requireWhole(
  git: Git,
  folder: string,
  {
    news,
    tips,
    pack,
  }: { readonly news: readonly string[]; readonly tips: readonly string[]; readonly pack: IncomingPack | null },
): Promise<void> {
  const env = withPack(folder, pack)
  const walk = ['rev-list', '--objects', '--no-object-names', '--stdin']
  const range = asLines([...news, ...tips.map((id) => `^${id}`)])
  const missing = new Set<string>()
  const isWalked = await eachLine(git, walk, { input: range, env }, (id) => {
    if (pack?.ids.has(id) !== true) missing.add(id)
    return missing.size > maxMissing ? 'enough' : 'more'
  })
  if (!isWalked || missing.size > maxMissing) throw leansOnHidden()
  if (missing.size === 0) return
  // Git leaves out what the newest commits have, not what all have: a file that came back is known from further down.
  await eachLine(git, walk, { input: asLines(tips) }, (id) => {
    missing.delete(id)
    return missing.size === 0 ? 'enough' : 'more'
  })
  if (missing.size > 0) throw leansOnHidden()
}

const asLines = (ids: readonly string[]): string => ids.map((id) => `${id}\n`).join('')

const maxMissing = 100_000

const leansOnHidden = (): PushRefusedError =>
  new PushRefusedError(
    'The push leans on objects that are neither in it nor below what this job may fetch. Push from a clone of this ' +
      'repository that has them all.',
  )

/** Calls `use` for each line; returns false if git failed. */
async function eachLine(
  git: Git,
  args: readonly string[],
  options: { readonly input: string; readonly env?: Readonly<Record<string, string>> },
  use: (line: string) => 'more' | 'enough',
): Promise<boolean> {
  let rest = ''
  const { exit_code } = await git(args, {
    ...options,
    accept: [0, 1, 128],
    onOutput: (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\n')
      rest = lines.pop() ?? ''
      return lines.some((line) => use(line) === 'enough') ? 'enough' : 'more'
    },
  })
  return exit_code === 0 || exit_code === null
}

/** Returns the move of a ref, with what keeps commits that the branch would lose. */
async function movesOf(
  git: Git,
  command: PushCommand,
  { ref, branch, refs }: { readonly ref: string; readonly branch: string; readonly refs: ReadonlyMap<string, string> },
): Promise<readonly RefMove[]> {
  const { from, to } = command
  const move = { ref, from, to }
  if (ref !== branchRef(branch) || from === null || to === null || from === to) return [move]
  const { exit_code } = await git(['merge-base', '--is-ancestor', from, to], { accept: [0, 1] })
  return exit_code === 0 ? [move] : [move, ...keepReplaced(refs, from)]
}
