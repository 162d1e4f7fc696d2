/** What takes time can be called off. */
export interface Cancellable {
  readonly signal: AbortSignal
}
