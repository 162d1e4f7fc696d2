import type { CommentId } from '../../../src-shared/contract/ids.ts'

/** A person's message to an agent, with the comments that it sends. It is delivered by an execution. */
export interface Message {
  readonly text: string
  readonly comment_ids: readonly CommentId[]
}
