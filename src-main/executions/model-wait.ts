import { executorInfos } from '../../src-shared/contract/executor-profiles.ts'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { EventFeed } from '../core/event-feed.ts'
import type { AgentRecord, ExecutionRecord } from '../ports/store.ts'

/** Watches how long an agent's model has not answered. Many agents repeat refused requests without saying so. */
export interface ModelWait {
  add(entry: TranscriptEntry): void
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
}

const firstWaitMs = 20_000

const progress: ReadonlySet<TranscriptEntry['type']> = new Set<TranscriptEntry['type']>([
  ...['prompt', 'message', 'thinking', 'tool_call', 'tool_result', 'stdout', 'usage', 'question', 'answer'],
] as const)

/**
 * Tells on task and transcript that the model has not answered for 20 s; later only of waits twice as long as the
 * last one it told of, because some models are slow each time.
 */
export function createModelWait({ feed, record, executor, now, tell }: ModelWaitOptions): ModelWait {
  // A command may be anything, so silence says nothing of a model.
  const isAgent = executorInfos[executor].figures.turns === 'seen'
  const calls = new Set<string>()
  let asks = false
  let waitMs = firstWaitMs
  let heardAt = now()
  let isLong = false
  let lastError: string | null = null
  let timer: NodeJS.Timeout | undefined

  const say = (): void => {
    isLong = true
    const seconds = Math.round(waitMs / 1_000)
    waitMs *= 2
    const at = new Date(now()).toISOString()
    const silence = isAgent ? `The model hasn't answered for ${seconds} s` : `No output for ${seconds} s`
    const { project_id, task_id, id: execution_id } = record
    feed.activity({ project_id, task_id, execution_id, text: silence, quiet_since: null, occurred_at: at })
    if (!isAgent) return
    const before = lastError === null ? '' : ` The last error was: ${lastError}`
    tell({ type: 'error', at, text: `${silence}. The agent may be repeating its request.${before}` })
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
      wait()
    },
    since: () => (isLong ? heardAt : null),
    end: () => {
      clearTimeout(timer)
      isLong = false
    },
  }
}
