import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createKeyedLock } from '../platform/locks/keyed-lock.ts'
import type { Logger } from '../platform/logging/log.ts'
import { createSingleFlight } from '../platform/locks/single-flight.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { Containment } from '../ports/containment.ts'
import type { GitViews } from '../ports/git-views.ts'
import type { Clock } from '../ports/clock.ts'
import type { Workspaces } from '../ports/workspaces.ts'
import { absorbNested, readInner, removeNested } from './worktree/inner-repositories.ts'
import { refuseDataLinks } from './commands/refuse-data-links.ts'
import { changedPaths, listChanged } from './commands/tree-paths.ts'
import { ensureWorktree } from './worktree/ensure-worktree.ts'
import { orNull } from './files/file-errors.ts'
import { measureFolder } from './files/folder-size.ts'
import { answeringPorts, arePortsFree } from './free-ports.ts'
import { mergeBase, resolveBase } from './commands/branch.ts'
import { commitEverything } from './commands/commit.ts'
import { withTrust, type TrustedPrograms } from './commands/configured-programs.ts'
import { removeLeftTemporary } from './commands/temporary-folder.ts'
import { tipOf } from './commands/refs.ts'
import { commonDir } from './commands/worktree.ts'
import { createWorktreeIndexes, removeLeftIndexes } from './commands/worktree-index.ts'
import { createTrackedPaths } from './list-tracked.ts'
import { findRepositories } from './find-repositories.ts'
import { inspectRepository, listRemoteUrls } from './inspect-repository.ts'
import { removeStaleGitLocks } from './worktree/left-git-locks.ts'
import { holderOf, releaseLock, releaseStale, takeLock } from './worktree/lock.ts'
import { landedSince, patchOf } from './merge/landed.ts'
import {
  checkMergeTarget,
  mergeIntoTarget,
  mergeTouches,
  moveTarget,
  prepareMerge,
  readConflicts,
  refuseOtherBranch,
} from './merge/merge-into-target.ts'
import { readHidden } from './merge/target-checkout.ts'
import { createOverlapReader, removeLeftOverlaps } from './overlaps/overlap-reader.ts'
import { isKnownTo, relinkWorktree, requireRepository } from './worktree/moved-repository.ts'
import { describeOrphan, findOrphans, removeOrphan } from './worktree/orphans.ts'
import { requireOwn } from './commands/own-worktree.ts'
import { readCommitDiff, readCommits } from './branch-commits.ts'
import { readDiff, readDiffStat, readHiddenPaths, readMassDeletion } from './read-diff.ts'
import { readMessages, readSameNames } from './same-names.ts'
import { putBackBranches, readBranches } from './other-branches.ts'
import { isOnBranch } from './elsewhere/settle-head.ts'
import { createElsewhere } from './create-elsewhere.ts'
import { asWorkspaceError, folderOf, ofRepository } from './workspace-errors.ts'
import { readPrograms, readRepositoryState, readRuns } from './repository-state.ts'
import { discardWorktree, removeWorktreeSafely } from './worktree/remove-worktree.ts'
import { deleteRescue, expireRescues, listRescues } from './rescue/rescue-list.ts'
import { readRescueDiff } from './rescue/rescue-diff.ts'
import { restoreRescue } from './rescue/rescue-restore.ts'
import { rescueUncommitted } from './rescue/rescue.ts'
import { resetWorktree } from './worktree/reset-worktree.ts'
import { createScratch, removeStaleScratch } from './worktree/scratch-worktree.ts'
import { finishPendingMove } from './merge/pending-move.ts'
import { readHead, readWorktreeStatus } from './worktree/worktree-status.ts'
import { restack } from './merge/restack.ts'
import { updateBranch } from './merge/update-branch.ts'
import { applyLines, readLines } from './suggested-lines.ts'
import { seeingRuns } from './view/seeing-runs.ts'
import { createSharedWatches } from './watch/shared-watches.ts'
import { watchWorktree } from './watch/watch-worktree.ts'
import { commitWork, createShownDiffs, readLinesSince, readWork } from './work.ts'

/**
 * Implements the engine's `Workspaces` with git worktrees. Within one object, commands that change a repository's
 * worktrees or refs run one at a time per repository, and lock files of one worktree one at a time. Failures are
 * `WorkspaceError`s; a cancelled call rejects with its signal's reason.
 */
export function createWorkspaces(options: WorkspacesOptions = {}): Workspaces {
  const { trusted, views } = options
  const opened = openWorkspaces(options)
  const workspaces = views ? seeingRuns(views, opened) : opened
  return trusted ? boundTo((work) => withTrust(trusted, work), workspaces) : workspaces
}

export interface WorkspacesOptions {
  readonly log?: Logger
  readonly clock?: Clock
  /** Without it, all programs that a repository configures may run. */
  readonly trusted?: TrustedPrograms
  /** Without it, setup commands are not contained. */
  readonly containment?: Pick<Containment, 'box'>
  /** Views in which contained runs work: what they made is taken over before anything is read. */
  readonly views?: GitViews
  /** Copse's data folder: hard links to its files are not committed. */
  readonly dataDir?: string
}

/** Returns an object whose methods run within `scope`. */
function boundTo<T extends object>(scope: <R>(work: () => R) => R, object: T): T {
  return new Proxy(object, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => scope((): unknown => Reflect.apply(member, target, args))
    },
  })
}

function openWorkspaces(options: WorkspacesOptions): Workspaces {
  const repositories = createKeyedLock()
  const worktrees = createKeyedLock()
  const reads = createSingleFlight()
  const shown = createShownDiffs()
  const indexes = createWorktreeIndexes(options.dataDir)
  const now = (): number => (options.clock ? options.clock.now() : Date.now())
  const onSetAside = (move: { readonly from: string; readonly to: string }): void =>
    options.log?.warn(move, 'a folder that is no whole worktree was renamed, nothing in it is lost')
  const onHookFailed = (failure: { readonly path: string; readonly exit_code: number | null }): void =>
    options.log?.warn(
      failure,
      'the post-checkout hook of a repository failed in a new worktree, which is used without it',
    )
  const onLeft = ({ path, error }: { readonly path: string; readonly error: unknown }): void =>
    options.log?.warn({ path, err: error }, 'a throw-away worktree could not be removed; the next start tries again')
  const trackedPaths = createTrackedPaths()
  const perRepository = async <T>(repo: string, { signal }: Cancellable, work: () => Promise<T>): Promise<T> =>
    await repositories.run(await requireRepository(repo, { signal }), work)

  return {
    nearby: findRepositories,
    trackedPaths: (repo, branch, { signal }) => asWorkspaceError(trackedPaths(repo, branch, { signal })),
    remoteUrls: (repo, { signal }) => asWorkspaceError(listRemoteUrls(repo, { signal })),
    inspect: (path, { signal }) => asWorkspaceError(inspectRepository(path, { signal })),
    programs: (repo, { signal }) => asWorkspaceError(readPrograms(repo, { signal })),
    runs: (repo, { signal }) => asWorkspaceError(readRuns(repo, { signal })),
    repositoryState: (path, { signal, refs }) => asWorkspaceError(readRepositoryState(path, { signal, refs })),
    branches: (path, { signal }) => asWorkspaceError(readBranches(path, { signal })),
    putBackBranches: (path, before, { signal }) => asWorkspaceError(putBackBranches(path, before, { signal })),
    ensure: (request, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(request.path), async () => {
          await requireRepository(request.repo_path, { signal })
          return await ensureWorktree(request, {
            signal,
            now,
            repositories,
            onSetAside,
            onHookFailed,
            containment: options.containment,
          })
        }),
      ),
    withScratch: async (request, use, { signal }) => {
      await using scratch = await asWorkspaceError(createScratch(request, { signal, repositories, onLeft }))
      return await use(scratch.path)
    },
    removeStaleScratch: (root, before) => asWorkspaceError(removeStaleScratch(root, before, { repositories, onLeft })),
    exists: async (path) => (await orNull(stat(path)))?.isDirectory() ?? false,
    isOnBranch: (path, branch, { signal }) => asWorkspaceError(isOnBranch(path, branch, { signal })),
    size: (path, { signal }) => asWorkspaceError(measureFolder(path, { signal })),
    status: (ref, { signal }) => ofRepository(ref, { signal }, () => readWorktreeStatus(ref, { signal })),
    head: (path, { signal }) => asWorkspaceError(readHead(path, { signal })),
    diff: (ref, scope, file, { signal, ...wishes }) =>
      ofRepository(ref, { signal }, () =>
        reads.run({ place: folderOf(ref), what: JSON.stringify([ref, scope, file, wishes]) }, signal, (shared) =>
          readDiff(ref, scope, file, { ...wishes, indexes, signal: shared }).then((taken) => {
            shown.note(taken)
            return taken.diff
          }),
        ),
      ),
    commits: (ref, { signal }) => ofRepository(ref, { signal }, () => readCommits(ref, { signal })),
    commitDiff: (ref, commit, file, { signal, ...wishes }) =>
      ofRepository(ref, { signal }, () => readCommitDiff(ref, commit, file, { ...wishes, signal })),
    massDeletion: (ref, { signal }) => ofRepository(ref, { signal }, () => readMassDeletion(ref, { signal, indexes })),
    hiddenText: (ref, { signal }) => ofRepository(ref, { signal }, () => readHiddenPaths(ref, { signal, indexes })),
    sameNames: (ref, { signal }) => ofRepository(ref, { signal }, () => readSameNames(ref, { signal, indexes })),
    messages: (ref, { signal }) => ofRepository(ref, { signal }, () => readMessages(ref, { signal })),
    diffStat: (ref, { signal }) => ofRepository(ref, { signal }, () => readDiffStat(ref, { signal, indexes })),
    ...createObservers(options, reads),
    ...createElsewhere({ worktrees, now, perRepository }),
    work: (ref, { signal }) => ofRepository(ref, { signal }, () => readWork(ref, { signal })),
    innerRepositories: (ref, { signal }) => ofRepository(ref, { signal }, () => readInner(ref, { signal })),
    absorbNested: (ref, task, paths, { signal }) =>
      ofRepository(ref, { signal }, () =>
        worktrees.run(resolve(ref.path), () =>
          perRepository(ref.repo_path, { signal }, () =>
            absorbNested(ref, task, paths, { signal, now, reason: 'nested' }),
          ),
        ),
      ),
    removeNested: (ref, task, paths, { signal }) =>
      ofRepository(ref, { signal }, () =>
        worktrees.run(resolve(ref.path), () =>
          perRepository(ref.repo_path, { signal }, () =>
            removeNested(ref, task, paths, { signal, now, reason: 'nested' }),
          ),
        ),
      ),
    lineChanges: (ref, since, places, { signal }) =>
      ofRepository(ref, { signal }, () => readLinesSince(ref, since, places, { signal })),
    changedFiles: (ref, before, now, { signal }) =>
      ofRepository(ref, { signal }, () => shown.changed(ref.path ?? ref.repo_path, before, now, { signal })),
    commitWork: (ref, work, message, { signal }) =>
      ofRepository(ref, { signal }, () =>
        worktrees.run(folderOf(ref), async () => {
          if (ref.path !== null) await requireOwn(ref.path, { signal })
          await refuseOtherBranch(ref, { signal })
          if (ref.path !== null && options.dataDir !== undefined) {
            const changes = await changedPaths(ref.path, work.head, work.tree, { signal })
            await refuseDataLinks(
              options.dataDir,
              ref.path,
              changes.map(({ key }) => key),
            )
          }
          return await commitWork(ref, work, message, { signal })
        }),
      ),
    lines: (ref, place, { signal }) => ofRepository(ref, { signal }, () => readLines(ref, place, { signal })),
    applyLines: (request, { signal }) =>
      ofRepository(request, { signal }, () =>
        worktrees.run(folderOf(request), async () => {
          const { path } = request
          if (path !== null) {
            await requireOwn(path, { signal })
            await refuseOtherBranch(request, { signal })
            if (options.dataDir !== undefined)
              await refuseDataLinks(options.dataDir, path, await listChanged(path, { signal }))
          }
          return await perRepository(request.repo_path, { signal }, () => applyLines(request, { signal }))
        }),
      ),
    commitAll: (path, message, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(path), async () => {
          await requireOwn(path, { signal })
          if (options.dataDir !== undefined) {
            await refuseDataLinks(options.dataDir, path, await listChanged(path, { signal }))
          }
          return await commitEverything(path, message, { signal })
        }),
      ),
    resetWorktree: (path, task, { signal }) =>
      asWorkspaceError(worktrees.run(resolve(path), () => resetWorktree(path, task, { signal, now, repositories }))),
    discard: (request, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(request.path), async () => {
          await indexes.forget(request.path)
          return await discardWorktree(request, { signal, now, repositories, onSetAside })
        }),
      ),
    rescue: (path, task, { signal }) =>
      asWorkspaceError(
        perRepository(path, { signal }, async () => {
          const git_dir = await requireOwn(path, { signal })
          return (await rescueUncommitted(path, task, { signal, now, reason: 'unknown', git_dir })).ref
        }),
      ),
    checkTarget: (ref, { signal }) =>
      asWorkspaceError(
        perRepository(ref.repo_path, { signal }, async () => ({ dirty: await checkMergeTarget(ref, { signal }) })),
      ),
    hiddenChanges: (ref, files, { signal }) => asWorkspaceError(readHidden(ref, files, { signal })),
    merge: (request, { signal }) =>
      asWorkspaceError(perRepository(request.repo_path, { signal }, () => mergeIntoTarget(request, { signal }))),
    tip: (repo, branch, { signal }) =>
      asWorkspaceError(requireRepository(repo, { signal }).then(() => tipOf(repo, branch, { signal }))),
    prepareMerge: (request, { signal }) =>
      asWorkspaceError(perRepository(request.repo_path, { signal }, () => prepareMerge(request, { signal }))),
    moveTarget: (merges, { signal }) =>
      asWorkspaceError(
        perRepository(merges[0]?.request.repo_path ?? '', { signal }, () => moveTarget(merges, { signal })),
      ),
    mergeTouches: (repo, prepared, files, { signal }) =>
      asWorkspaceError(mergeTouches(repo, prepared, files, { signal })),
    landedSince: (request, { signal }) => asWorkspaceError(landedSince(request, { signal })),
    patchOf: (repo, commit, bytes, { signal }) => asWorkspaceError(patchOf(repo, commit, bytes, { signal })),
    finishMerges: (repo, { signal }) =>
      asWorkspaceError(perRepository(repo, { signal }, () => finishPendingMove(repo, { signal }))),
    conflicts: (ref, { signal }) => ofRepository(ref, { signal }, () => readConflicts(ref, { signal })),
    updateBranch: (request, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(request.path ?? request.repo_path), async () => {
          if (request.path !== null) await requireOwn(request.path, { signal })
          return await perRepository(request.repo_path, { signal }, () => updateBranch(request, { signal, now }))
        }),
      ),
    restack: (request, { signal, beforeMove }) =>
      asWorkspaceError(
        worktrees.run(folderOf(request), async () => {
          const { path } = request
          if (path !== null) await requireOwn(path, { signal })
          if (path !== null && options.dataDir !== undefined)
            await refuseDataLinks(options.dataDir, path, await listChanged(path, { signal }))
          return await perRepository(request.repo_path, { signal }, () => restack(request, { signal, now, beforeMove }))
        }),
      ),
    remove: (request, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(request.path), async () => {
          await indexes.forget(request.path)
          return await removeWorktreeSafely(request, { signal, now, repositories, onSetAside })
        }),
      ),
    lock: (path, lock) => asWorkspaceError(worktrees.run(`lock ${resolve(path)}`, () => takeLock(path, lock))),
    unlock: (path, execution) =>
      asWorkspaceError(worktrees.run(`lock ${resolve(path)}`, () => releaseLock(path, execution))),
    readLock: (path) => asWorkspaceError(holderOf(path)),
    releaseStaleLocks: async (root) => {
      await asWorkspaceError(removeLeftTemporary())
      if (options.dataDir !== undefined) {
        await asWorkspaceError(removeLeftOverlaps(options.dataDir))
        await asWorkspaceError(removeLeftIndexes(options.dataDir))
      }
      const left = await asWorkspaceError(removeStaleGitLocks(root, { signal: new AbortController().signal }))
      if (left.length > 0) options.log?.warn({ files: left }, 'locks that a killed git left in worktrees were removed')
      return await asWorkspaceError(releaseStale(root))
    },
    isKnownTo: (repo, path, { signal }) =>
      asWorkspaceError(requireRepository(repo, { signal }).then((common) => isKnownTo(common, path))),
    relink: (repo, path, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(path), () =>
          perRepository(repo, { signal }, () => relinkWorktree(repo, path, { signal })),
        ),
      ),
    arePortsFree,
    answeringPorts,
    orphans: (root, known) => asWorkspaceError(findOrphans(root, known)),
    rescues: (repo, task, { signal }) => asWorkspaceError(listRescues(repo, task, { signal })),
    rescueDiff: (rescue, file, { signal }) => asWorkspaceError(readRescueDiff(rescue, file, { signal })),
    restoreRescue: (name, into, { signal }) =>
      asWorkspaceError(perRepository(name.repo_path, { signal }, () => restoreRescue(name, into, { signal }))),
    deleteRescue: (name, { signal }) =>
      asWorkspaceError(perRepository(name.repo_path, { signal }, () => deleteRescue(name, { signal }))),
    expireRescues: (repo, before, { signal }) =>
      asWorkspaceError(perRepository(repo, { signal }, () => expireRescues(repo, before, { signal }))),
    describeOrphan: (path, { signal }) => asWorkspaceError(describeOrphan(path, { signal })),
    removeOrphan: (path, fallback, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(path), () => removeOrphan(path, fallback, { signal, now, repositories, onSetAside })),
      ),
    sameRepository: (one, other, { signal }) => asWorkspaceError(isSameRepository(one, other, { signal })),
    forkPoint: (path, base, { signal }) => asWorkspaceError(forkPoint(path, base, { signal })),
  }
}

/** Returns what follows worktrees while they change. */
function createObservers(
  { dataDir, log }: WorkspacesOptions,
  reads: Pick<ReturnType<typeof createSingleFlight>, 'inTurn'>,
): Pick<Workspaces, 'watch' | 'readOverlaps' | 'forgetOverlaps'> {
  const overlaps = createOverlapReader({ dataDir, inTurn: (path, work) => reads.inTurn(resolve(path), work) })
  const watches = createSharedWatches((root, news) =>
    watchWorktree(root, news, { inTurn: (work) => reads.inTurn(root, work), ...(log && { log }) }),
  )
  return {
    watch: (path, news) => asWorkspaceError(watches.open(resolve(path), news)),
    readOverlaps: (request, { signal }) => asWorkspaceError(overlaps.readOverlaps(request, { signal })),
    forgetOverlaps: (group) => asWorkspaceError(overlaps.forgetOverlaps(group)),
  }
}

async function isSameRepository(one: string, other: string, { signal }: Cancellable): Promise<boolean> {
  const [first, second] = await Promise.all([commonDir(one, { signal }), commonDir(other, { signal })])
  return (await realpath(first)) === (await realpath(second))
}

async function forkPoint(path: string, baseBranch: string, { signal }: Cancellable): Promise<string | null> {
  const base = await resolveBase(path, baseBranch, { signal })
  return base === null ? null : await mergeBase(path, base, 'HEAD', { signal })
}
