/** Options of an operation that can be aborted. */
export interface Cancellable {
  readonly signal: AbortSignal
}
