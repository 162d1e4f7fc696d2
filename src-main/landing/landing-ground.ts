import type { Ground } from '../core/ground.ts'
import type { TargetMover } from '../ports/target-mover.ts'

/** What landing needs besides the ground. */
export interface LandingGround extends Ground {
  readonly target: TargetMover
}
