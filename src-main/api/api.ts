import type { FeedItem } from '../../src-shared/contract/events.ts'
import type { TranscriptItem } from '../../src-shared/contract/events.ts'
import type { CallerRule } from '../../src-shared/contract/operation.ts'
import type { OperationName } from '../../src-shared/contract/operations.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { RequestSource } from '../domain/access/request-source.ts'

export interface CallContext {
  readonly principal: Principal
  readonly signal: AbortSignal
  /** null where the caller is in this process. */
  readonly remote_address: string | null
  /** What else is known of where it comes from; asked by what concerns accounts. */
  readonly source?: RequestSource
}

/** What the doors (`server`, `desktop`) speak to. Throws `ApiError` for every refusal. */
export interface Api {
  /**
   * Before anything of a request is read. `writes`: it is more than a look. Throws `ApiError` for a caller whose token
   * is no good for it.
   */
  admit(rule: CallerRule, principal: Principal, writes: boolean): void
  /** Parses `input`, checks existence and rights, performs the operation, answers its output. */
  call(name: OperationName, input: unknown, context: CallContext): Promise<unknown>
  /** Events after `after` (null: from now on), then live. */
  events(input: unknown, after: number | null, context: CallContext): AsyncIterable<FeedItem>
  /** Transcript entries from line `from` on, then live, then the end. */
  transcript(input: unknown, from: number, context: CallContext): AsyncIterable<TranscriptItem>
}
