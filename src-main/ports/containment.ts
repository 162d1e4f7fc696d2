import type { ContainmentLevel, ContainmentStatus, HeldContainment } from '../../src-shared/contract/containment.ts'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { Box } from '../platform/process/box.ts'
import type { ForwardedRun, Forwarder } from '../platform/process/port-forwarders.ts'

/** The limits of a contained run. */
export interface ContainmentRules {
  readonly level: ContainmentLevel
  /** Hosts that `worktree_and_hosts` may reach; the service itself is always reachable. */
  readonly hosts?: readonly string[]
  /** Absolute paths, or paths below the home folder that start with `~`. */
  readonly read?: readonly string[]
  readonly write?: readonly string[]
}

/** What the owner of an agent configured, whose paths the agent needs. */
export interface OwnersWords {
  readonly command?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** What one run may do besides working in its worktree. */
export interface BoxRequest extends ContainmentRules {
  /** The worktree. */
  readonly cwd: string
  /** The home folder in the run's variables, if it is not the person's. */
  readonly home?: string | undefined
  readonly owner?: OwnersWords
  /**
   * The folder that the run has in the place of its home folder, and keeps; without it, it has one that ends with it.
   */
  readonly privateHome?: string | undefined
  /** Called at the end with what the run was the first to write to its private home and can be kept, from `~`. */
  readonly onHomeWritten?: (paths: readonly string[]) => void
  /** Names of the variables given for this run. Inherited variables are passed on except keys. */
  readonly variables?: readonly string[]
  /**
   * Called at the first denial of a kind, and at the end with the count. Only a hint: programs can forge or avoid it.
   */
  readonly onDenied?: (denial: Denial) => void
  /** Called at each answer of a server that can be seen: not over TLS. */
  readonly onAnswer?: (answer: SeenAnswer) => void
}

/** An answer of a server to a contained run. */
export interface SeenAnswer {
  readonly host: string
  readonly status: number
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** An access that a contained run was denied. */
export type Denial = Pick<Extract<TranscriptEntry, { type: 'denied' }>, 'what' | 'target' | 'access' | 'count'>

/** A box that also reads its programs' output, because some denials show nowhere else. */
export interface ContainedBox extends Box {
  onOutput(text: string): void
  /** Lets what runs in the box reach another host from now on, under `worktree_and_hosts`. */
  allowHost(host: string): void
}

/** How a box that has a network of its own reaches what it may: the service, and its hosts by a proxy of this machine. */
export interface HostWays extends Pick<ContainedBox, 'allowHost'> {
  /** Opens them for a command. */
  open(run: ForwardedRun): Promise<OpenHostWays>
}

export interface OpenHostWays {
  /** What leads there, by sockets in the run's folder. */
  readonly forwarders: readonly Forwarder[]
  /** By which programs find the proxy. */
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

export interface Containment {
  /** Returns what this machine can contain; detected once. */
  status(): ContainmentStatus
  /** Returns the containment that a run gets for a requested level. */
  effectiveLevel(level: ContainmentLevel): HeldContainment
  /** Returns why this machine can't provide a level that was asked for by name, or null if it can. */
  refusal(level: ContainmentLevel): string | null
  /** Returns why no run may read this path, or null if it may. */
  pathProblem(path: string): string | null
  /** Returns whether a contained run in this worktree can't move the repository's refs, so that none is put back. */
  keepsRefs(cwd: string): Promise<boolean>
  /**
   * Returns null if the run is not contained. Throws `ContainmentUnavailable` if a level asked for by name is not
   * available.
   */
  box(request: BoxRequest): Promise<ContainedBox | null>
  /** Returns why no box can be led to allowed hosts on this machine; null if one can. */
  hostsProblem(): string | null
  /** Leads another kind of box to its hosts. Throws `ContainmentUnavailable` if `hostsProblem` says why not. */
  hostWays(request: BoxRequest): Promise<HostWays>
  close(): Promise<void>
}

/** Thrown if a run must be contained and this machine can't do it. */
export class ContainmentUnavailable extends Error {
  override readonly name = 'ContainmentUnavailable'
  readonly code = 'containment_unavailable'
}
