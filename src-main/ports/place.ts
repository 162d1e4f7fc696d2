import type { ProjectId, RunnerId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Logger } from '../platform/logging/log.ts'
import type { NeededTrust } from '../../src-shared/contract/runner-trust.ts'
import type { BranchStart, ProjectBases } from './base-files.ts'
import type { Cancellable } from './cancellable.ts'
import type { Arrivals } from './arrivals.ts'
import type { BranchUpdater } from './branch-updater.ts'
import type { Containment } from './containment.ts'
import type { DiffReader } from './diff-reader.ts'
import type { Executors } from './executors.ts'
import type { GitViews } from './git-views.ts'
import type { LineChanger } from './line-changer.ts'
import type { OrphanStore } from './orphan-store.ts'
import type { PortProbe } from './port-probe.ts'
import type { ScratchWorktrees } from './scratch-worktrees.ts'
import type { Scripts } from './scripts.ts'
import type { WorkElsewhere } from './work-elsewhere.ts'
import type { WorkKeeper } from './work-keeper.ts'
import type { WorktreeLocks } from './worktree-locks.ts'
import type { WorktreeStore } from './worktree-store.ts'

/**
 * One machine where tasks have their files and their processes run. What needs only a commit (merges, landing,
 * rescues, overlaps) asks no place. For example `places.of(task.id).scripts.run({ command: 'npm test', cwd, … })` runs
 * where the worktree `cwd` is.
 */
export interface Place {
  /** The folder on that machine below which worktrees are made. */
  readonly workspaceRoot: string
  readonly worktrees: WorktreeStore
  readonly locks: WorktreeLocks
  readonly work: WorkKeeper
  readonly diffs: DiffReader
  readonly lines: LineChanger
  readonly branches: BranchUpdater
  readonly elsewhere: WorkElsewhere
  readonly scratch: ScratchWorktrees
  readonly orphans: OrphanStore
  readonly ports: PortProbe
  readonly runs: Executors
  readonly scripts: Scripts
  readonly containment: Pick<Containment, 'refusal' | 'effectiveLevel' | 'keepsRefs'>
  /**
   * Returns what an admin has to trust before runs of a project can start here; null if nothing. Throws
   * `ContainmentUnavailable` if none can start.
   */
  readonly neededTrust?: (
    start: BranchStart & { readonly project_id: ProjectId },
    options: Cancellable,
  ) => Promise<NeededTrust | null>
  /** Where the worktrees are not on this machine: what has come of a task's. */
  readonly arrivals?: Pick<Arrivals, 'look'>
}

export interface Places {
  /** Returns where a task's worktree is, or will be: the runner of its last run. */
  of(task_id: TaskId): Place
  /** Returns the place of a runner; this machine for one that was removed. */
  at(runner_id: RunnerId): Place
  /** Returns where the checks and hooks of a task run, or those of a project without one. */
  scripts(of: { readonly task_id: TaskId | null; readonly project_id: ProjectId }): Scripts
  /** This machine. */
  readonly here: Place
  all(): readonly Place[]
}

/** What a place shares with this machine if its files are here. */
export interface SharedParts {
  readonly views: GitViews
  readonly bases: ProjectBases
  /** What this machine contains its own runs by. */
  readonly machine: Pick<Containment, 'pathProblem' | 'hostsProblem' | 'hostWays'>
  readonly dataDir: string
  readonly apiUrl: () => string | null
  readonly log: Logger
}
