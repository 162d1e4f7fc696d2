import type { LandingGround } from '../landing/landing-ground.ts'
import type { RunGround } from '../executions/run-ground.ts'
import type { PullRequestGround } from '../pull-requests/pull-request-ground.ts'
import type { ProjectGround } from '../projects/project-ground.ts'
import type { BaseConflictReader } from '../ports/base-conflict-reader.ts'
import type { OverlapReader } from '../ports/overlap-reader.ts'
import type { RunnerKinds } from '../ports/runner-kinds.ts'
import type { RescueStore } from '../ports/rescue-store.ts'

/** The ground, and what single capabilities need besides it. */
export interface EngineContext extends RunGround, LandingGround, ProjectGround, PullRequestGround {
  readonly rescues: RescueStore
  readonly overlaps: OverlapReader
  readonly baseConflicts: BaseConflictReader
  readonly runnerKinds: RunnerKinds
  /** How long the worktree of a cancelled task stays. */
  readonly cleanupDelaySeconds: number
}
