/** Who may speak for a job: the runner with the newest fence. */
export interface Lease {
  /** Grows each time that the job is given out, and when it is lost or over. */
  readonly fence: number
  readonly state: 'offered' | 'accepted' | 'over'
  /** The runner's process that took it; null before. */
  readonly instance: string | null
  /**
   * How long the runner has been silent while the service was awake, in milliseconds; of a job on offer, how long it has
   * not asked for work.
   */
  readonly silent_ms: number
}

/** Why a runner's word does not count. */
export type LeaseRefusal = 'lease_lost'

/** Durations in milliseconds. */
export interface LeaseLimits {
  /** Silent so long, the link counts as lost. */
  readonly link_ms: number
  /** Silent so long after the loss of the link, the job counts as lost. */
  readonly grace_ms: number
}

export const newLease: Lease = { fence: 0, state: 'offered', instance: null, silent_ms: 0 }

/** Gives the job out, with a new fence; null if it is no longer on offer. */
export const giveOut = (lease: Lease): Lease | null =>
  lease.state === 'offered' ? { ...lease, fence: lease.fence + 1, silent_ms: 0 } : null

/** Ends what any runner may say. */
export const endLease = (lease: Lease): Lease => ({ ...lease, fence: lease.fence + 1, state: 'over' })

/**
 * A runner takes the job. Once only: the same process may ask again, because the answer may have been lost; another one
 * has lost it.
 */
export function accept(
  lease: Lease,
  { fence, instance }: { readonly fence: number; readonly instance: string },
): Lease | LeaseRefusal {
  if (lease.state === 'over' || fence !== lease.fence) return 'lease_lost'
  if (lease.state === 'accepted') return instance === lease.instance ? heard(lease) : 'lease_lost'
  return { ...lease, state: 'accepted', instance, silent_ms: 0 }
}

/** The runner has spoken for an accepted job. */
export function speak(lease: Lease, fence: number): Lease | LeaseRefusal {
  return lease.state === 'accepted' && fence === lease.fence ? heard(lease) : 'lease_lost'
}

const heard = (lease: Lease): Lease => (lease.silent_ms === 0 ? lease : { ...lease, silent_ms: 0 })

/** Counts time in which the service was awake. */
export const pass = (lease: Lease, awake_ms: number): Lease =>
  lease.state === 'over' ? lease : { ...lease, silent_ms: lease.silent_ms + awake_ms }

export const isLinkLost = ({ silent_ms }: Lease, { link_ms }: LeaseLimits): boolean => silent_ms > link_ms

/** Returns whether the runner has been silent for too long, so that the job is lost. */
export const isLost = ({ silent_ms }: Lease, { link_ms, grace_ms }: LeaseLimits): boolean =>
  silent_ms > link_ms + grace_ms
