import type { OperationInput, OperationName, OperationOutput } from '../../src-shared/contract/operations.ts'

/** `local`: the person at this machine; nobody signed in with a password. */
export type SessionState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'signed_out'; readonly reason: string | null }
  | { readonly kind: 'signed_in'; readonly as: 'local' | 'account' }

/** The plain client's call, before the session itself is there. */
export type Call = <N extends OperationName>(name: N, input: OperationInput<N>) => Promise<OperationOutput<N>>

/** What the session needs of the browser; tests bring their own. */
export interface SessionHost {
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  readonly address: { readonly hash: string; clearHash(): void }
  now(): number
  /** Calls back after `ms`; returns what cancels it. */
  later(ms: number, callback: () => void): () => void
}
