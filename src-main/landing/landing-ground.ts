import type { Ground } from '../core/ground.ts'
import type { TargetMover } from '../ports/target-mover.ts'

/** The services that landing uses. */
export interface LandingGround extends Ground {
  readonly target: TargetMover
}
