import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId } from '../../src-shared/contract/ids.ts'
import type { PromptPart } from '../../src-shared/contract/prompts.ts'
import { composeParts } from './rules/prompt-parts.ts'
import type { Ground } from '../core/ground.ts'
import { emitMessageUpdated, isMessage } from './messages.ts'
import { promptFacts, type PromptTarget } from './prompt-facts.ts'
import { toStoredPrompt } from './prompt-record.ts'
import { redactorOf } from '../core/redactor-of.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { Queries } from '../ports/store.ts'

/**
 * Returns the prompt for a message: the text alone in a session that knows the task, otherwise with the whole task.
 */
export function messageParts(context: Ground, q: Queries, told: PromptTarget, text: string): PromptPart[] {
  if (told.session_id !== null) return [{ kind: 'feedback', text }]
  const facts = { ...promptFacts(context, q, told), review: null }
  if (!facts.judges) return composeParts({ ...facts, feedback: text })
  return [
    ...composeParts({ ...facts, feedback: null }),
    { kind: 'feedback', text: `\n\n## A message for you\n\n${text}` },
  ]
}

/** Changes the text of a message that has not been delivered; refused once it has. */
export function editMessage(
  context: Ground,
  execution_id: ExecutionId,
  text: string,
  isStarting: boolean,
): ExecutionRecord | Refusal {
  return context.feed.commit((tx) => {
    const record = tx.executions.get(execution_id)
    const task = record && tx.tasks.get(record.task_id)
    const message = record?.overrides.message
    if (!record || !task || !message || !isMessage(record) || isStarting) return tooLate
    const words = redactorOf(context, tx, task.project_id)(text)
    const { role, session_id, agent_id } = record
    const agent = agent_id === null ? null : tx.agents.get(agent_id)
    const changed: ExecutionRecord = {
      ...record,
      ...toStoredPrompt(messageParts(context, tx, { task, role, agent, session_id }, words)),
      overrides: { ...record.overrides, message: { ...message, text: words } },
    }
    tx.executions.put(changed)
    emitMessageUpdated(tx, changed)
    return changed
  })
}

const tooLate: Refusal = {
  code: 'execution_not_running',
  message: 'No message is queued here: the agent already has it, or it was withdrawn. Write another one.',
}
