import type { DesktopBridge, StreamReply } from '../../src-shared/contract/desktop.ts'
import type { ErrorBody } from '../../src-shared/contract/errors.ts'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { OperationName } from '../../src-shared/contract/operations.ts'
import type { Review } from '../../src-shared/contract/reviews.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import type { Diff } from '../../src-shared/contract/workspaces.ts'
import { panelData, workflow } from './task-panel-data.ts'
import { ids } from './task-panel-ids.ts'
import { transcript } from './task-panel-transcript.ts'

export interface TaskPanelBridge extends DesktopBridge {
  /** Every call that was made, in order. */
  readonly calls: { readonly name: OperationName; readonly input: unknown }[]
  /** Adds to the running agent's transcript. */
  say(...entries: TranscriptEntry[]): void
  /** Ends every open stream as a lost connection does. */
  drop(): void
  setTask(patch: Partial<Task>): void
  setReviews(reviews: readonly Review[]): void
  setDiff(diff: Diff | null): void
  /** The next call of this name is refused. */
  refuse(name: OperationName, error: ErrorBody['error']): void
}

interface Subscription {
  readonly executionId: string | null
  readonly reply: (reply: StreamReply) => void
}

/** A window's bridge with one project and one task in memory: what the task panel needs, answered as the service would. */
export function createTaskPanelBridge(now = Date.now()): TaskPanelBridge {
  const data = panelData(now)
  const lines = new Map<string, TranscriptEntry[]>([
    [ids.running, transcript(now)],
    [ids.earlier, [{ type: 'error', at: data.task.created_at, text: 'No model answered.' }]],
    [ids.long, transcript(now, 625)],
  ])
  const subscriptions = new Set<Subscription>()
  const refusals = new Map<OperationName, ErrorBody['error']>()
  const calls: TaskPanelBridge['calls'] = []
  let reviews: readonly Review[] = data.reviews
  let diff: Diff | null = data.diff
  let task = data.task
  let seq = 100

  function announce(): void {
    const event = {
      seq: ++seq,
      type: 'task.updated' as const,
      data: { project_id: ids.project, task_id: ids.task, occurred_at: new Date().toISOString(), task },
    }
    for (const subscription of subscriptions)
      if (subscription.executionId === null) subscription.reply({ kind: 'item', item: { kind: 'event', event } })
  }
  function setTask(patch: Partial<Task>): void {
    task = { ...task, ...patch, version: task.version + 1, updated_at: new Date().toISOString() }
    announce()
  }
  const answers: Partial<Record<OperationName, (input: Record<string, unknown>) => unknown>> = {
    'system.get': () => ({ version: '0.1.0', platform: 'linux' }),
    'projects.list': () => ({ items: [data.project] }),
    'projects.get_workflow': () => workflow,
    'projects.get_settings': () => ({ merge_strategy: 'squash', max_concurrent_executions: 4 }),
    'agents.list': () => ({ items: [data.agent] }),
    'tasks.list': () => ({ items: [task], has_more: false, next_cursor: null }),
    'tasks.get': () => task,
    'tasks.executions': () => ({ items: data.executions }),
    'tasks.reviews': () => ({ items: reviews }),
    'tasks.moves': () => ({ items: data.moves }),
    'tasks.workspace': () => data.workspace,
    'tasks.transitions': () => ({ items: data.transitions }),
    'tasks.diff': ({ path }) => {
      if (path === undefined) return diff
      const file = data.diff.files.find((candidate) => candidate.path === path)
      return { ...data.diff, files: [{ ...file, truncated: false }], patch: largePatch(String(path)) }
    },
    'tasks.read_log': ({ offset }) => {
      const bytes = new TextEncoder().encode('line of the whole log\n'.repeat(2_000))
      const piece = bytes.slice(Number(offset ?? 0))
      return { data_base64: btoa(String.fromCharCode(...piece)), next_offset: bytes.length, complete: true }
    },
    'tasks.update': (input) => {
      const { task_id: _task, version: _version, ...patch } = input
      setTask(patch)
      return task
    },
    'tasks.verdict': () => ({ task }),
    'tasks.transition': ({ status }) => {
      setTask({ status: String(status) })
      return { task }
    },
    'executions.input': ({ data: text }) => {
      say({ type: 'prompt', at: new Date().toISOString(), text: String(text) })
      return null
    },
    'executions.stop': () => {
      setTask({ active_execution_id: null })
      return { execution: { ...data.executions[0], status: 'stopped', finished_at: new Date().toISOString() }, task }
    },
  }
  function say(...entries: TranscriptEntry[]): void {
    const known = lines.get(ids.running) ?? []
    for (const entry of entries) {
      const index = known.push(entry) - 1
      for (const subscription of subscriptions)
        if (subscription.executionId === ids.running)
          subscription.reply({ kind: 'item', item: { kind: 'entry', index, entry } })
    }
  }

  return {
    platform: 'linux',
    calls,
    say,
    setTask,
    setReviews: (next) => (reviews = next),
    setDiff: (next) => (diff = next),
    refuse: (name, error) => refusals.set(name, error),
    drop: () => {
      for (const subscription of subscriptions) subscription.reply({ kind: 'end' })
      subscriptions.clear()
    },
    call: async (name, input) => {
      calls.push({ name, input })
      const refusal = refusals.get(name)
      if (refusal) {
        refusals.delete(name)
        return { ok: false, error: refusal }
      }
      const answer = answers[name]
      if (!answer) return { ok: false, error: { code: 'not_found', message: `Nothing answers ${name} here.` } }
      return { ok: true, value: answer((input ?? {}) as Record<string, unknown>) }
    },
    subscribe: (stream, input, after, reply) => {
      const executionId = stream === 'executions.stream' ? (input as { execution_id: string }).execution_id : null
      const subscription = { executionId, reply }
      subscriptions.add(subscription)
      if (executionId !== null) {
        const known = lines.get(executionId) ?? []
        known.forEach((entry, index) => {
          if (index > (after ?? -1)) reply({ kind: 'item', item: { kind: 'entry', index, entry } })
        })
        if (executionId !== ids.running) reply({ kind: 'item', item: { kind: 'end' } })
      }
      return () => subscriptions.delete(subscription)
    },
    pickFolder: async () => null,
    showFolder: async () => undefined,
  }
}

/** Some thousand changed lines, as git writes them. */
function largePatch(path: string): string {
  const lines = Array.from({ length: 6_000 }, (_, n) => `-  "old-${n}": "1.0.${n}",\n+  "new-${n}": "1.1.${n}",`)
  return `diff --git a/${path} b/${path}\nindex 5555555..6666666 100644\n--- a/${path}\n+++ b/${path}\n@@ -1,6000 +1,6000 @@\n${lines.join('\n')}\n`
}
