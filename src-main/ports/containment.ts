import type { ContainmentLevel, ContainmentStatus, HeldContainment } from '../../src-shared/contract/containment.ts'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { Box } from '../platform/process/box.ts'

/** What a run is held to. */
export interface ContainmentRules {
  readonly level: ContainmentLevel
  /** Hosts that `worktree_and_hosts` reaches; the service itself always. */
  readonly hosts?: readonly string[]
  /** Absolute, or below the home folder by `~`. */
  readonly read?: readonly string[]
  readonly write?: readonly string[]
}

/** What one run may do beside working in its worktree. */
export interface BoxRequest extends ContainmentRules {
  /** The worktree. */
  readonly cwd: string
  /** The home folder that its variables name, where that is another than the person's. */
  readonly home?: string | undefined
  /** Names of the variables that were given for it. Of the inherited ones it has all but keys. */
  readonly variables?: readonly string[]
  /** Told when something is denied first, and at the end how often; a hint, which what runs can forge or avoid. */
  readonly onDenied?: (denial: Denial) => void
}

/** Something that a contained run may not do. */
export type Denial = Pick<Extract<TranscriptEntry, { type: 'denied' }>, 'what' | 'target' | 'count'>

/** A box, to which it is told what its programs print: some denials show nowhere else. */
export interface ContainedBox extends Box {
  heard(text: string): void
}

export interface Containment {
  /** What this machine can do; looked at once. */
  status(): ContainmentStatus
  /** What a run is held to where this was asked for. */
  held(level: ContainmentLevel): HeldContainment
  /** Why this machine can't hold a run to what was asked for by name; null where it can, and for the others. */
  refusal(level: ContainmentLevel): string | null
  /** Why no run is given this path; null where one may have it. */
  pathProblem(path: string): string | null
  /** null: the run is not contained. Throws `ContainmentUnavailable` where one was asked for by name and can't be had. */
  box(request: BoxRequest): Promise<ContainedBox | null>
  close(): Promise<void>
}

/** A run was to be contained, and this machine can't. */
export class ContainmentUnavailable extends Error {
  override readonly name = 'ContainmentUnavailable'
  readonly code = 'containment_unavailable'
}
