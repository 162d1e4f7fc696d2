import { resolve } from 'node:path'
import type { GitViews } from '../ports/git-views.ts'
import type { BaseFiles } from '../ports/base-files.ts'
import type { BranchPusher } from '../ports/branch-pusher.ts'
import type { BaseConflictReader } from '../ports/base-conflict-reader.ts'
import type { OverlapReader } from '../ports/overlap-reader.ts'
import type { Place } from '../ports/place.ts'
import type { RepositoryReader } from '../ports/repository-reader.ts'
import type { RescueStore } from '../ports/rescue-store.ts'
import type { TargetMover } from '../ports/target-mover.ts'
import { withTrust, type TrustedPrograms } from './commands/configured-programs.ts'
import { createBaseFiles } from './create-base-files.ts'
import { createBranchPusher } from './create-branch-pusher.ts'
import { createBranchUpdater } from './create-branch-updater.ts'
import { createDiffReader } from './create-diff-reader.ts'
import { createElsewhere } from './create-elsewhere.ts'
import { createLineChanger } from './create-line-changer.ts'
import { createOrphanStore } from './create-orphan-store.ts'
import { createRepositoryReader } from './create-repository-reader.ts'
import { createRescueStore } from './create-rescue-store.ts'
import { createScratchWorktrees } from './create-scratch-worktrees.ts'
import { createTargetMover } from './create-target-mover.ts'
import { createWorkKeeper } from './create-work-keeper.ts'
import { createWorktreeLocks } from './create-worktree-locks.ts'
import { createWorktreeStore } from './create-worktree-store.ts'
import { answeringPorts, arePortsFree } from './free-ports.ts'
import { createGitParts, type GitPartsOptions } from './git-parts.ts'
import { createBaseConflictReader } from './overlaps/base-conflict-reader.ts'
import { createOverlapReader } from './overlaps/overlap-reader.ts'
import { seeingRuns } from './view/seeing-runs.ts'
import { asWorkspaceError } from './workspace-errors.ts'

/** Everything that is asked of git: what belongs to a machine's worktrees, and what belongs to repositories. */
export interface Git {
  readonly place: Pick<
    Place,
    'worktrees' | 'locks' | 'work' | 'diffs' | 'lines' | 'branches' | 'elsewhere' | 'scratch' | 'orphans' | 'ports'
  >
  readonly repositories: RepositoryReader
  readonly target: TargetMover
  readonly rescues: RescueStore
  readonly overlaps: OverlapReader
  readonly baseConflicts: BaseConflictReader
  readonly pusher: BranchPusher
  readonly baseFiles: BaseFiles
}

export interface GitOptions extends GitPartsOptions {
  /** Without it, all programs that a repository configures may run. */
  readonly trusted?: TrustedPrograms
  /** Views in which contained runs work: what they made is taken over before anything is read. */
  readonly views?: GitViews
}

/**
 * Implements the ports of worktrees and repositories. Within one object, commands that change a repository's worktrees
 * or refs run one at a time per repository, and lock files of one worktree one at a time. Failures are
 * `WorkspaceError`s; a cancelled call rejects with its signal's reason.
 */
export function createGit(options: GitOptions = {}): Git {
  const { trusted, views } = options
  const parts = createGitParts(options)
  /** Every method runs with the repository's trust, and sees what contained runs have made. */
  const open = <T extends object>(port: T): T => {
    const seeing = views ? seeingRuns(views, port) : port
    return trusted ? boundTo((work) => withTrust(trusted, work), seeing) : seeing
  }
  const reading = {
    dataDir: parts.dataDir,
    inTurn: <T>(path: string, work: () => Promise<T>) => parts.reads.inTurn(resolve(path), work),
  }
  const overlaps = createOverlapReader(reading)
  const baseConflicts = createBaseConflictReader(reading)
  return {
    place: {
      worktrees: open(createWorktreeStore(parts)),
      locks: open(createWorktreeLocks(parts)),
      work: open(createWorkKeeper(parts)),
      diffs: open(createDiffReader(parts)),
      lines: open(createLineChanger(parts)),
      branches: open(createBranchUpdater(parts)),
      elsewhere: open(createElsewhere(parts)),
      scratch: open(createScratchWorktrees(parts)),
      orphans: open(createOrphanStore(parts)),
      ports: { arePortsFree, answeringPorts },
    },
    repositories: open(createRepositoryReader()),
    target: open(createTargetMover(parts)),
    rescues: open(createRescueStore(parts)),
    pusher: open(createBranchPusher(parts)),
    baseFiles: open(createBaseFiles()),
    overlaps: open({
      readOverlaps: (request, { signal }) => asWorkspaceError(overlaps.readOverlaps(request, { signal })),
      forgetOverlaps: (group) => asWorkspaceError(overlaps.forgetOverlaps(group)),
    } satisfies OverlapReader),
    baseConflicts: open({
      readTips: (repo, branches, { signal }) => asWorkspaceError(baseConflicts.readTips(repo, branches, { signal })),
      readBaseConflicts: (repo, strategy, works, { signal }) =>
        asWorkspaceError(baseConflicts.readBaseConflicts(repo, strategy, works, { signal })),
    } satisfies BaseConflictReader),
  }
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
