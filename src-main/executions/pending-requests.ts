import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { Ask, TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { NotificationId } from '../../src-shared/contract/ids.ts'
import { checkAnswer, type GivenAnswer } from './rules/check-answer.ts'
import { isRefusal } from '../domain/refusal.ts'
import { nowIso, type Ground } from '../core/ground.ts'
import { notify, withdrawNotification } from '../core/notify.ts'
import type { AgentRequestAnswer, AgentRequest } from '../ports/executors.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { redactorOf } from '../core/redactor-of.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import { toExecution } from '../core/views.ts'

/**
 * A running agent's requests that wait for a person's answer. They are held in memory with the run and end with it.
 */
export interface PendingRequests {
  ask(
    request: AgentRequest,
    options: Cancellable & { readonly tell: (entry: TranscriptEntry) => void },
  ): Promise<AgentRequestAnswer | null>
  /** Oldest first. */
  pending(): readonly Ask[]
  /** Answers a request; a second answer is refused. */
  answer(ask_id: string, given: GivenAnswer, by: string): Refusal | null
  /** Withdraws the pending requests; new ones are not accepted. */
  close(): void
}

interface PendingAsk {
  readonly ask: Ask
  readonly settle: (answer: AgentRequestAnswer | null) => void
  readonly tell: (entry: TranscriptEntry) => void
  /** The notification of the request; null while there is none. */
  notification: NotificationId | null
}

/** In characters; a longer change is cut in the request, and the tool call in the transcript has all of it. */
const maxDiff = 100_000
const maxDetail = 20_000

export function createPendingRequests(
  context: Ground,
  record: Pick<ExecutionRecord, 'id' | 'task_id' | 'project_id'>,
): PendingRequests {
  const waiting = new Map<string, PendingAsk>()
  const over = new Set<string>()
  let open = true
  const pending = (): Ask[] => [...waiting.values()].map(({ ask }) => ask)
  const leave = (id: string, answer: AgentRequestAnswer | null): void => {
    const one = waiting.get(id)
    if (!one) return
    waiting.delete(id)
    over.add(id)
    emitAsks(context, record, { asks: pending(), closed: [one] })
    one.settle(answer)
  }
  return {
    pending,
    ask: (request, { signal, tell }) => {
      if (!open || signal.aborted) return Promise.resolve(null)
      const redact = redactorOf(context, context.store.read, record.project_id)
      const ask = shown({ ...request, id: context.newId(), asked_at: nowIso(context) }, redact)
      return new Promise((resolve) => {
        const withdraw = (): void => leave(ask.id, null)
        const settle = (answer: AgentRequestAnswer | null): void => {
          signal.removeEventListener('abort', withdraw)
          resolve(answer)
        }
        const asked: PendingAsk = { ask, settle, tell, notification: null }
        waiting.set(ask.id, asked)
        signal.addEventListener('abort', withdraw, { once: true })
        const { id: ask_id, text, options, asked_at: at } = ask
        tell({ type: 'question', at, text, ask_id, options })
        emitAsks(context, record, { asks: pending(), asked })
      })
    },
    answer: (ask_id, given, by) => {
      const one = waiting.get(ask_id)
      if (!one) return over.has(ask_id) ? answered : unknown
      const answer = checkAnswer(one.ask, given)
      if (isRefusal(answer)) return answer
      const words = [answer.option?.label, answer.text].filter((part) => part !== null && part !== undefined)
      one.tell({ type: 'answer', at: nowIso(context), ask_id, text: words.join(': '), by })
      leave(ask_id, answer)
      return null
    },
    close: () => {
      open = false
      const closed = [...waiting.values()]
      for (const { settle } of closed) settle(null)
      for (const id of waiting.keys()) over.add(id)
      waiting.clear()
      if (closed.length > 0) emitAsks(context, record, { asks: [], closed })
    },
  }
}

const answered: Refusal = {
  code: 'already_answered',
  message: 'This question is closed: it was answered, or the agent no longer needs an answer.',
}
const unknown: Refusal = {
  code: 'not_found',
  message: 'The agent asks no such thing. See `asks` of its execution for what it waits for.',
  details: { resource: 'ask' },
}

interface AskNews {
  /** The pending requests now. */
  readonly asks: readonly Ask[]
  /** A new one, which also creates a notification. */
  readonly asked?: PendingAsk
  /** Ended requests. Their notifications are withdrawn, because there is nothing left to answer. */
  readonly closed?: readonly PendingAsk[]
}

/** Emits the pending requests. If that can't be written, the agent still gets its answer or waits for it. */
function emitAsks(
  context: Ground,
  record: Pick<ExecutionRecord, 'id' | 'task_id' | 'project_id'>,
  news: AskNews,
): void {
  try {
    commitAsks(context, record, news)
  } catch (error) {
    context.log.error({ err: error, execution_id: record.id }, 'what an agent asks could not be announced')
  }
}

function commitAsks(
  context: Ground,
  { id, task_id, project_id }: Pick<ExecutionRecord, 'id' | 'task_id' | 'project_id'>,
  { asks, asked, closed = [] }: AskNews,
): void {
  context.feed.commit((tx) => {
    for (const { notification } of closed) if (notification !== null) withdrawNotification(tx, notification)
    const record = tx.executions.get(id)
    const task = tx.tasks.get(task_id)
    if (!record || !task) return
    const execution = { ...toExecution(record), ...(asks.length > 0 && { asks: [...asks] }) }
    tx.emit('execution.updated', { project_id, task_id, execution })
    if (asked) asked.notification = notify(context, tx, task, { event_type: 'execution.asks', body: asked.ask.text })
  })
}

/** Returns a request as people see it: redacted, and cut to a readable length. */
function shown(ask: Ask, redact: (text: string) => string): Ask {
  const { target, detail, diff } = ask
  const whole = diff !== null && (diff.old_text?.length ?? 0) + diff.new_text.length <= maxDiff
  return {
    ...ask,
    text: redact(ask.text),
    target: target === null ? null : redact(target),
    detail: detail === null ? null : cut(redact(detail)),
    diff: whole
      ? {
          path: redact(diff.path),
          old_text: diff.old_text === null ? null : redact(diff.old_text),
          new_text: redact(diff.new_text),
        }
      : null,
    options: ask.options.map((option) => ({
      ...option,
      label: redact(option.label),
      description: option.description === null ? null : redact(option.description),
    })),
  }
}

const cut = (text: string): string =>
  text.length > maxDetail
    ? `${text.slice(0, maxDetail)}\n… ${text.length - maxDetail} more characters; reject it if you need to see them first`
    : text
