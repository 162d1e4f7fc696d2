import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyedLock } from '../platform/locks/keyed-lock.ts'
import type { Logger } from '../platform/logging/log.ts'
import type { Arrivals, ArrivalsStart, Arrived, ArrivedRef, LentState } from '../ports/arrivals.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { Clock } from '../ports/clock.ts'
import type { JobGrant } from '../ports/job-access.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import {
  baseRef,
  bringTo,
  findFolder,
  gitOf,
  hasFolder,
  keptPrefix,
  latePrefix,
  livePrefix,
  makeFolder,
  moveRefs,
  noteArrival,
  noteLeft,
  quarantineOf,
  readArrival,
  readLeft,
  readRefs,
  replacedPrefix,
  requireArrived,
  snapshotRef,
  type ArrivalsFolder,
} from './arrivals/arrivals-folder.ts'
import { compact, hasManyPacks } from './arrivals/compact.ts'
import { createLfsAccess, takeLfs } from './arrivals/lfs.ts'
import { errorLine, flush, pktLine } from './commands/pkt-lines.ts'
import { advertisePush, receivePack } from './arrivals/receive-pack.ts'
import { sendPack } from './arrivals/serve-fetch.ts'
import { rescueArrived, takeBranch } from './arrivals/take-arrived.ts'
import { branchRef } from './commands/branch.ts'
import { bringWorktree } from './sending/bring-worktree.ts'
import { makeSnapshot } from './sending/make-snapshot.ts'
import { orNull } from './files/file-errors.ts'
import { estimateFolder } from './files/folder-size.ts'
import { asWorkspaceError } from './workspace-errors.ts'

export interface ArrivalsOptions {
  /** Copse's data folder; the repositories lie in `arrivals` in it. */
  readonly dataDir: string
  readonly clock: Clock
  readonly log?: Logger
  /** After so many pushes of a task, what arrived is put into one pack. Default 50. */
  readonly maxPacks?: number
  /** Commands that change refs of a repository run one at a time. */
  readonly perRepository?: <T>(repo: string, options: Cancellable, work: () => Promise<T>) => Promise<T>
}

/** What one task's repository is being used for. */
interface InUse {
  requests: number
  readonly removed: AbortController
}

const maxFiles = 1_000_000
const lateSentence = 'This job has lost its lease. It may bring its work once, below refs/svc/late.'

/** Implements the repositories in which work arrives. One object serves a data folder. */
export function createArrivals(options: ArrivalsOptions): Arrivals {
  const { dataDir, clock, log, maxPacks = 50, perRepository = (_repo, _options, work) => work() } = options
  const locks = createKeyedLock()
  const used = new Map<string, InUse>()
  const listeners = new Map<string, Set<() => void>>()
  const lfs = createLfsAccess()

  const pathOf = (task: string): string => {
    if (!/^[\w-]+$/.test(task)) throw new Error(`No task has the ID ${task}.`)
    return join(dataDir, 'arrivals', `${task}.git`)
  }
  const find = async (task: string): Promise<ArrivalsFolder> => {
    const found = await findFolder(pathOf(task))
    if (found === null) throw new WorkspaceError('git_failed', 'Nothing of this task’s work is done elsewhere.')
    return found
  }
  const use = (task: string): InUse => {
    const known = used.get(task)
    const entry = known ?? { requests: 0, removed: new AbortController() }
    if (!known) used.set(task, entry)
    return entry
  }
  const inTurn = <T>(task: string, work: () => Promise<T>): Promise<T> => locks.run(task, work)

  /** Serves a request while nothing is compacted; the last one compacts if it is time. */
  async function* serve(
    task: string,
    { signal, grant }: Cancellable & { readonly grant: JobGrant },
    work: (at: ArrivalsFolder, signal: AbortSignal) => AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    const entry = use(task)
    await inTurn(task, async () => {
      if (entry.requests === 0) await rm(quarantineOf(pathOf(task)), { recursive: true, force: true })
      entry.requests += 1
    })
    try {
      const at = await asWorkspaceError(find(task))
      yield* work(at, AbortSignal.any([signal, grant.ended, entry.removed.signal]))
    } finally {
      entry.requests -= 1
      if (entry.requests === 0) await tidy(task)
    }
  }
  const tidy = (task: string): Promise<void> =>
    inTurn(task, async () => {
      const entry = use(task)
      const at = await findFolder(pathOf(task))
      if (at === null || entry.requests > 0 || !(await hasManyPacks(at.folder, maxPacks))) return
      try {
        await compact(gitOf(at, { signal: entry.removed.signal }), at.folder)
      } catch (error) {
        log?.warn({ err: error, folder: at.folder }, 'what arrived of a task could not be compacted, it stays as it is')
      }
    })

  const remove: Arrivals['remove'] = async (task) => {
    used.get(task)?.removed.abort(new WorkspaceError('git_failed', 'The task’s work was removed.'))
    await inTurn(task, async () => {
      used.delete(task)
      lfs.forget(pathOf(task))
      if (await hasFolder(pathOf(task)))
        await asWorkspaceError(rm(pathOf(task), { recursive: true, force: true, maxRetries: 5 }))
    })
  }

  return {
    open: (task, start, { signal }) =>
      inTurn(task, () => asWorkspaceError(openFolder(pathOf(task), start, { signal }))),
    read: (task, { signal }) => asWorkspaceError(readFolder(pathOf(task), { signal })),
    look: async (task) => {
      const at = await asWorkspaceError(findFolder(pathOf(task)))
      return at && { at: await readArrival(at.folder), left_there: await readLeft(at.folder) }
    },
    noteLeft: (task, paths) =>
      inTurn(task, () => asWorkspaceError(find(task).then(({ folder }) => noteLeft(folder, paths)))),
    advertise: async (task, service, { signal, grant }) => {
      const parts: Uint8Array[] = [pktLine(`# service=${service}\n`), flush]
      const options = { signal, grant }
      for await (const part of serve(task, options, (at, whole) => firstAnswer(at, service, grant, whole)))
        parts.push(part)
      return Buffer.concat(parts)
    },
    sendPack: (task, request, options) =>
      serve(task, options, (at, signal) =>
        options.grant.access === 'late'
          ? inOne(errorLine(lateSentence))
          : sendPack(gitOf(at, { signal }), at, request, { signal }),
      ),
    receivePack: (task, request, { signal: wish, grant }) =>
      serve(task, { signal: wish, grant }, (at, signal) =>
        receivePack(
          {
            git: gitOf(at, { signal }),
            ...at,
            grant,
            inTurn: (work) =>
              inTurn(task, async () => {
                const answers = await work()
                if ([...answers.values()].includes(null)) {
                  await noteArrival(at.folder, new Date(clock.now()).toISOString())
                  for (const listener of listeners.get(task) ?? []) listener()
                  grant.onBrought?.()
                }
                return answers
              }),
          },
          request,
        ),
      ),
    readLfs: async (task, oid, { signal, grant }) => {
      if (grant.access === 'late') return null
      const at = await asWorkspaceError(find(task))
      return await asWorkspaceError(lfs.read(at, oid, { signal: AbortSignal.any([signal, grant.ended]) }))
    },
    writeLfs: async (task, object, { signal, grant }) => {
      const at = await asWorkspaceError(find(task))
      const ends = AbortSignal.any([signal, grant.ended, use(task).removed.signal])
      return await asWorkspaceError(takeLfs(at, object, { signal: ends, grant }))
    },
    lend: async (task, loan, { signal }) => {
      const at = await asWorkspaceError(find(task))
      return await inTurn(task, () => asWorkspaceError(lend(at, loan, { signal })))
    },
    takeBack: async (task, name, { signal }) => {
      const at = await findFolder(pathOf(task))
      if (at === null) return
      await inTurn(task, () => asWorkspaceError(endLoan(at, name, { signal })))
    },
    onArrival: (task, listener) => {
      const known = listeners.get(task) ?? new Set()
      listeners.set(task, known.add(listener))
      return () => {
        known.delete(listener)
        if (known.size === 0) listeners.delete(task)
      }
    },
    bring: async (task, worktree, { head, snapshot }, { signal }) => {
      const { folder, branch } = await asWorkspaceError(find(task))
      const state = { branch, head, snapshot, objects: [join(folder, 'objects')] }
      await asWorkspaceError(bringWorktree(worktree, state, { signal }))
    },
    keep: async (task, commit, { signal }) => {
      const at = await asWorkspaceError(find(task))
      await inTurn(task, () => asWorkspaceError(keepCommit(at, commit, { signal })))
    },
    takeBranch: async (task, move, { signal }) => {
      const at = await asWorkspaceError(find(task))
      return await perRepository(at.repo_path, { signal }, () =>
        inTurn(task, () => asWorkspaceError(takeBranch(at, move, { signal }))),
      )
    },
    rescue: async (task, work, { signal }) => {
      const at = await asWorkspaceError(find(task))
      const now = (): number => clock.now()
      return await perRepository(at.repo_path, { signal }, () =>
        inTurn(task, () => asWorkspaceError(rescueArrived(at, task, work, { signal, now }))),
      )
    },
    size: async (task, { signal }) =>
      (await asWorkspaceError(estimateFolder(pathOf(task), maxFiles, { signal })))?.size_bytes ?? 0,
    settle: (task) => inTurn(task, () => Promise.resolve()),
    remove,
    removeWhere: async (isGone) => {
      const names = (await orNull(readdir(join(dataDir, 'arrivals')))) ?? []
      for (const name of names) {
        const task = name.endsWith('.git') ? name.slice(0, -'.git'.length) : null
        if (task !== null && isGone(task)) await remove(task)
      }
    },
  }
}

async function openFolder(folder: string, start: ArrivalsStart, { signal }: Cancellable): Promise<Arrived> {
  const at = await makeFolder(folder, start, { signal })
  await bringTo(at, start, { signal })
  return await describe(at, { signal })
}

async function readFolder(folder: string, { signal }: Cancellable): Promise<Arrived | null> {
  const at = await findFolder(folder)
  return at && (await describe(at, { signal }))
}

async function keepCommit(at: ArrivalsFolder, commit: string, { signal }: Cancellable): Promise<void> {
  const git = gitOf(at, { signal })
  await requireArrived(git, commit)
  const ref = `${keptPrefix}${commit}`
  if (!(await readRefs(git)).has(ref)) await moveRefs(git, [{ ref, from: null, to: commit }])
}

const lentPrefix = (name: string): string => `${livePrefix}lent/${name}/`

async function lend(
  at: ArrivalsFolder,
  { name, folder }: { readonly name: string; readonly folder: string },
  { signal }: Cancellable,
): Promise<LentState> {
  const objects = join(at.folder, 'objects')
  const taken = await makeSnapshot(folder, { signal, max_file_bytes: Number.MAX_SAFE_INTEGER, objects, previous: null })
  if (taken === null) throw new WorkspaceError('git_failed', `${folder} has no commit yet.`)
  const { head, commit } = taken
  const snapshot = commit === head ? null : commit
  const git = gitOf(at, { signal })
  const known = await readRefs(git)
  const move = (part: string, to: string) => {
    const ref = `${lentPrefix(name)}${part}`
    return { ref, from: known.get(ref) ?? null, to }
  }
  await moveRefs(git, [move('head', head), ...(snapshot === null ? [] : [move('snapshot', snapshot)])])
  return { head, snapshot }
}

async function endLoan(at: ArrivalsFolder, name: string, { signal }: Cancellable): Promise<void> {
  const git = gitOf(at, { signal })
  const lent = [...(await readRefs(git))].filter(([ref]) => ref.startsWith(lentPrefix(name)))
  if (lent.length > 0)
    await moveRefs(
      git,
      lent.map(([ref, from]) => ({ ref, from, to: null })),
    )
}

async function* inOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}

async function* firstAnswer(
  at: ArrivalsFolder,
  service: Parameters<Arrivals['advertise']>[1],
  grant: JobGrant,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const git = gitOf(at, { signal })
  if (service === 'git-receive-pack') {
    const { stdout } = await git(['rev-parse', '--show-object-format'])
    yield await advertisePush({ git, branch: at.branch }, stdout.toString('utf8').trim())
  } else if (grant.access === 'late') yield errorLine(lateSentence)
  else yield (await git(['upload-pack', '--stateless-rpc', '--advertise-refs', at.folder])).stdout
}

async function describe(at: ArrivalsFolder, { signal }: Cancellable): Promise<Arrived> {
  const refs = await readRefs(gitOf(at, { signal }))
  const below = (prefix: string): readonly ArrivedRef[] =>
    [...refs]
      .filter(([ref]) => ref.startsWith(prefix) && ref !== snapshotRef && !ref.startsWith(`${livePrefix}lent/`))
      .map(([ref, commit]) => ({ name: ref.slice(prefix.length), commit }))
  return {
    folder: at.folder,
    base_commit: refs.get(baseRef) ?? '',
    branch: refs.get(branchRef(at.branch)) ?? null,
    snapshot: refs.get(snapshotRef) ?? null,
    at: await readArrival(at.folder),
    others: below(livePrefix),
    late: below(latePrefix),
    replaced: below(replacedPrefix).map(({ commit }) => commit),
  }
}
