import type { OperationInput, OperationName, OperationOutput } from '../../src-shared/contract/operations.ts'

/** The session's state. `local`: the local operator, who needs no password. */
export type SessionState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'signed_out'; readonly reason: string | null }
  | { readonly kind: 'signed_in'; readonly as: 'local' | 'account' }

/** A call of the plain client, before the session exists. */
export type Call = <N extends OperationName>(name: N, input: OperationInput<N>) => Promise<OperationOutput<N>>

/** Browser functions that the session uses; tests bring their own. */
export interface SessionHost {
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  /** Shared by all tabs of this device, and kept. */
  readonly device: SessionHost['storage']
  /** Runs `work` while no other tab runs this, because a session's cookie works once. */
  alone(work: () => Promise<void>): Promise<void>
  readonly address: { readonly hash: string; clearHash(): void }
  now(): number
  /** Calls back after `ms`; returns a function that cancels it. */
  later(ms: number, callback: () => void): () => void
}
