import { executorInfos } from '../../src-shared/contract/executor-profiles.ts'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { EventFeed } from '../core/event-feed.ts'
import type { ExecutionOutcome, ServerAnswer } from '../ports/executors.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'

/** Watches how long an agent's model has not answered. Many agents repeat refused requests without saying so. */
export interface ModelWait {
  add(entry: TranscriptEntry): void
  /** Takes an answer that was seen on the network. */
  answered(answer: ServerAnswer): void
  /** Returns the latest refusal, unless its server has answered since. */
  refusal(): ServerAnswer | null
  /** Returns since when the model has not answered, once that is long; null otherwise. */
  since(): number | null
  end(): void
}

export interface ModelWaitOptions {
  readonly feed: Pick<EventFeed, 'activity'>
  readonly record: Pick<ExecutionRecord, 'id' | 'task_id' | 'project_id'>
  readonly executor: AgentRecord['executor']
  readonly now: () => number
  /** Writes an entry to the transcript. */
  readonly tell: (entry: TranscriptEntry) => void
  /** Called if the agent waits in silence for a limit that resets only later. */
  readonly onHopeless?: () => void
}

const firstWaitMs = 20_000
/** A run that would wait longer for its account ends, so that it takes no slot and resumes at the reset. */
const hopelessMs = 2 * 60_000

const progress: ReadonlySet<TranscriptEntry['type']> = new Set<TranscriptEntry['type']>([
  ...['prompt', 'message', 'thinking', 'tool_call', 'tool_result', 'stdout', 'usage', 'question', 'answer'],
] as const)

/**
 * Tells on task and transcript that the model has not answered for 20 s; later only of waits twice as long as the
 * last one it told of, because some models are slow each time.
 */
export function createModelWait({ feed, record, executor, now, tell, onHopeless }: ModelWaitOptions): ModelWait {
  // A command may be anything, so silence says nothing of a model.
  const isAgent = executorInfos[executor].figures.turns === 'seen'
  const calls = new Set<string>()
  let asks = false
  let waitMs = firstWaitMs
  let heardAt = now()
  let isLong = false
  let lastError: string | null = null
  let refusals = 0
  let refusal: ServerAnswer | null = null
  let timer: NodeJS.Timeout | undefined

  const say = (): void => {
    isLong = true
    const seconds = Math.round(waitMs / 1_000)
    waitMs *= 2
    const at = new Date(now()).toISOString()
    const silence = isAgent ? `The model hasn't answered for ${seconds} s` : `No output for ${seconds} s`
    const { project_id, task_id, id: execution_id } = record
    feed.activity({ project_id, task_id, execution_id, text: silence, quiet_since: null, occurred_at: at })
    const seenNow = refusals === 0 ? null : refusal
    if (!isAgent && seenNow === null) return
    const before = lastError === null ? '' : ` The last error was: ${lastError}`
    const seen =
      seenNow === null
        ? 'The agent may be repeating its request.'
        : `${seenNow.host} answered ${seenNow.status}, ${refusals === 1 ? 'once' : `${refusals} times`}.`
    tell({ type: 'error', at, text: `${silence}. ${seen}${before}` })
    const resetsIn = seenNow?.status === 429 && seenNow.resets_at !== null ? Date.parse(seenNow.resets_at) - now() : 0
    if (resetsIn >= hopelessMs) onHopeless?.()
  }
  const wait = (): void => {
    clearTimeout(timer)
    if (calls.size === 0 && !asks) timer = setTimeout(say, waitMs)
  }
  return {
    add: (entry) => {
      if (entry.type === 'error') lastError = entry.text.slice(0, 300)
      if (!progress.has(entry.type)) return
      if (entry.type === 'tool_call') calls.add(entry.id)
      if (entry.type === 'tool_result') calls.delete(entry.id)
      if (entry.type === 'question') asks = true
      if (entry.type === 'answer' || entry.type === 'prompt') asks = false
      if (entry.type === 'prompt') calls.clear()
      heardAt = now()
      isLong = false
      lastError = null
      // What is said may be about the refusal, which only an answer of its server takes back.
      refusals = 0
      wait()
    },
    answered: (seen) => {
      const isRefused = seen.status >= 400
      if (isRefused) {
        refusals += 1
        refusal = seen
      } else if (seen.host === refusal?.host) {
        refusals = 0
        refusal = null
      }
    },
    refusal: () => refusal,
    since: () => (isLong ? heardAt : null),
    end: () => {
      clearTimeout(timer)
      isLong = false
    },
  }
}

/** Adds to an outcome what was seen on the network: that the model's server refused, and when its limit resets. */
export function withRefusal(
  outcome: ExecutionOutcome,
  refusal: ServerAnswer | null,
  isGivenUp: boolean,
): ExecutionOutcome {
  if (refusal === null) return outcome
  const { host, status, resets_at } = refusal
  const hasFailed = outcome.ended === 'exited' && (outcome.exit_code !== 0 || outcome.conclusion !== 'done')
  if (!isGivenUp && !hasFailed) return outcome
  const told = outcome.usage_limit
  if (told) return { ...outcome, usage_limit: { ...told, resets_at: told.resets_at ?? resets_at } }
  if (status !== 429 && status !== 401) return outcome
  const words = `${host} answered ${status}.`
  return {
    ...outcome,
    ended: 'exited',
    exit_code: outcome.exit_code === 0 || outcome.exit_code === null || isGivenUp ? 1 : outcome.exit_code,
    conclusion: status === 429 ? 'limit' : outcome.conclusion,
    message: isGivenUp || outcome.message === null ? words : `${outcome.message} (${words})`,
    ...(status === 429 && { usage_limit: { resets_at } }),
  }
}
