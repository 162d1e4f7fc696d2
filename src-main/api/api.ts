import type { FeedItem } from '../../src-shared/contract/events.ts'
import type { TranscriptItem } from '../../src-shared/contract/events.ts'
import type { CallerRule } from '../../src-shared/contract/operation.ts'
import type { OperationName } from '../../src-shared/contract/operations.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { RequestSource } from '../domain/access/request-source.ts'
import type { WebhookDelivery } from '../platform/text/webhook-signature.ts'

export interface CallContext {
  readonly principal: Principal
  readonly signal: AbortSignal
  /** null for a caller in this process. */
  readonly remote_address: string | null
  /** Further facts about the request's origin, used by account operations. */
  readonly source?: RequestSource
  /** Only of a request over HTTP. */
  readonly cookie?: SessionCookie
}

/** The cookie of a remembered session. */
export interface SessionCookie {
  /** Returns the request's own; null without one. */
  read(): string | null
  /** Sends a new one with the answer; null removes it. */
  write(value: string | null): void
}

/** The API behind the HTTP server and the desktop. Throws `ApiError` for every refusal. */
export interface Api {
  /**
   * Checks the caller before the request is read. `writes`: the request changes something. Throws `ApiError` for a
   * token that does not allow it.
   */
  admit(rule: CallerRule, principal: Principal, writes: boolean): void
  /** Parses `input`, checks existence and rights, performs the operation and returns its output. */
  call(name: OperationName, input: unknown, context: CallContext): Promise<unknown>
  /** Yields the events after `after` (null: from now on), then live ones. */
  events(input: unknown, after: number | null, context: CallContext): AsyncIterable<FeedItem>
  /** Yields transcript entries from line `from` on, then live ones, then the end. */
  transcript(input: unknown, from: number, context: CallContext): AsyncIterable<TranscriptItem>
  /**
   * Takes a forge's webhook, which brings the next poll of its project forward and does nothing else. Throws `ApiError`
   * alike for a wrong signature and an integration that doesn't exist.
   */
  webhook(integration_id: string, delivery: WebhookDelivery): void
}
