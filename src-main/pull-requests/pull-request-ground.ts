import type { Ground } from '../core/ground.ts'
import type { BranchPusher } from '../ports/branch-pusher.ts'
import type { Forges } from '../ports/forges.ts'
import type { TargetMover } from '../ports/target-mover.ts'
import type { StepServices } from '../steps/step-services.ts'
import type { ActionDeps } from '../tasks/action-services.ts'
import type { Actions } from '../tasks/actions.ts'
import type { BranchUpdates } from '../tasks/update-branch.ts'

/** The ground with what reaches a forge. */
export interface PullRequestGround extends Ground {
  readonly forges: Forges
  readonly pusher: BranchPusher
  readonly target: TargetMover
}

/** What pull requests need besides the steps. */
export interface PullRequestDeps extends Pick<StepServices, 'transitions' | 'worktrees'>, Pick<ActionDeps, 'worker'> {
  readonly context: PullRequestGround
  readonly branches: Pick<BranchUpdates, 'update'>
  readonly actions: Pick<Actions, 'feedback' | 'cancel'>
}
