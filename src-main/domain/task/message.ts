import type { CommentId } from '../../../src-shared/contract/ids.ts'

/** What a person wrote to an agent, and the comments that went with it. An execution is there to bring it. */
export interface Message {
  readonly text: string
  readonly comment_ids: readonly CommentId[]
}
