import { createKeyedLock, type KeyedLock } from '../platform/locks/keyed-lock.ts'
import { createSingleFlight, type SingleFlight } from '../platform/locks/single-flight.ts'
import type { Logger } from '../platform/logging/log.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { Clock } from '../ports/clock.ts'
import type { Containment } from '../ports/containment.ts'
import { createWorktreeIndexes } from './commands/worktree-index.ts'
import { createShownDiffs } from './work.ts'
import { requireRepository } from './worktree/moved-repository.ts'

export interface GitPartsOptions {
  readonly log?: Logger
  readonly clock?: Clock
  /** Without it, setup commands are not contained. */
  readonly containment?: Pick<Containment, 'box'>
  /** Copse's data folder: hard links to its files are not committed. */
  readonly dataDir?: string
}

/** Locks and caches that the implementations of all ports share, so that their commands exclude each other. */
export interface GitParts {
  /** One command at a time that changes a repository's worktrees or refs. */
  readonly repositories: KeyedLock
  readonly worktrees: KeyedLock
  readonly reads: SingleFlight
  readonly shown: ReturnType<typeof createShownDiffs>
  readonly indexes: ReturnType<typeof createWorktreeIndexes>
  readonly now: () => number
  readonly containment: Pick<Containment, 'box'> | undefined
  readonly dataDir: string | undefined
  readonly log: Logger | undefined
  readonly onSetAside: (move: { readonly from: string; readonly to: string }) => void
  readonly onHookFailed: (failure: { readonly path: string; readonly exit_code: number | null }) => void
  readonly onLeft: (left: { readonly path: string; readonly error: unknown }) => void
  readonly perRepository: <T>(repo: string, options: Cancellable, work: () => Promise<T>) => Promise<T>
}

export function createGitParts({ log, clock, containment, dataDir }: GitPartsOptions): GitParts {
  const repositories = createKeyedLock()
  return {
    repositories,
    worktrees: createKeyedLock(),
    reads: createSingleFlight(),
    shown: createShownDiffs(),
    indexes: createWorktreeIndexes(dataDir),
    now: () => (clock ? clock.now() : Date.now()),
    containment,
    dataDir,
    log,
    onSetAside: (move) => log?.warn(move, 'a folder that is no whole worktree was renamed, nothing in it is lost'),
    onHookFailed: (failure) =>
      log?.warn(failure, 'the post-checkout hook of a repository failed in a new worktree, which is used without it'),
    onLeft: ({ path, error }) =>
      log?.warn({ path, err: error }, 'a throw-away worktree could not be removed; the next start tries again'),
    perRepository: async (repo, { signal }, work) =>
      await repositories.run(await requireRepository(repo, { signal }), work),
  }
}
