import type { RunnerId } from '../../src-shared/contract/ids.ts'

/** The runners that are connected, by their tokens. */
export interface RunnerTokens {
  /** Makes a token for a link of a runner; `end` makes it open nothing. */
  make(runner_id: RunnerId): { readonly token: string; end(): void }
  find(token: string): RunnerId | null
}
