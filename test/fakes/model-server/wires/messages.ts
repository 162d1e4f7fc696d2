import { answerMessages } from './messages-answer.ts'
import { readMessages } from './messages-request.ts'
import type { Wire } from './wire.ts'

/** Anthropic's Messages, as Claude Code speaks it. */
export const messages: Wire = {
  match: (path) => (path.endsWith('/messages') ? { model: null, stream: null } : null),
  read: readMessages,
  answer: answerMessages,
}
