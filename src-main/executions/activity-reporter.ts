import { actionVerbs, type TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { EventFeed } from '../core/event-feed.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'

export interface ActivityReporter {
  /** `shown` returns the entry without its secrets. */
  report(type: TranscriptEntry['type'], shown: () => TranscriptEntry): void
  /** Ends the reporter with the run: activity that was not emitted yet is dropped. */
  end(): void
}

/** People read no faster, and an agent may print thousands of lines a second. */
const everyMs = 100

/** Emits an agent's latest activity: the first at once, later ones at most every `everyMs`, and always the last. */
export function createActivityReporter(
  feed: Pick<EventFeed, 'activity'>,
  record: Pick<ExecutionRecord, 'id' | 'task_id' | 'project_id'>,
): ActivityReporter {
  let last: (() => TranscriptEntry) | null = null
  let timer: NodeJS.Timeout | undefined

  function say(shown: () => TranscriptEntry): void {
    last = null
    const entry = shown()
    const text = activityOf(entry)
    if (text === null) return
    timer = setTimeout(() => {
      timer = undefined
      if (last) say(last)
    }, everyMs)
    const { project_id, task_id, id: execution_id } = record
    const words = { text: text.slice(0, 200), quiet_since: null, occurred_at: entry.at }
    feed.activity({ project_id, task_id, execution_id, ...words })
  }
  return {
    report: (type, shown) => {
      if (!activityTypes.has(type)) return
      if (timer === undefined) say(shown)
      else last = shown
    },
    end: () => clearTimeout(timer),
  }
}

const activityTypes: ReadonlySet<TranscriptEntry['type']> = new Set<TranscriptEntry['type']>([
  ...['tool_call', 'message', 'stdout', 'thinking', 'question', 'answer'],
] as const)

function activityOf(entry: TranscriptEntry): string | null {
  if (entry.type === 'tool_call') return `${actionVerbs[entry.action]} ${entry.target ?? entry.tool}`
  if (entry.type === 'message' || entry.type === 'stdout') return lastLine(entry.text)
  if (entry.type === 'thinking') return 'Thinking'
  if (entry.type === 'question') return entry.text
  return entry.type === 'answer' ? 'Working' : null
}

function lastLine(text: string): string | null {
  const words = text.trimEnd()
  return words.slice(words.lastIndexOf('\n') + 1).trimStart() || null
}
