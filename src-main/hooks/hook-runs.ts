import type { HookRun } from '../../src-shared/contract/lifecycle-hooks.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Ground } from '../core/ground.ts'
import { redactorOf } from '../core/redactor-of.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { afterwards } from '../../src-shared/lang/afterwards.ts'

/** The fields of a run that are known before it starts. */
export type HookRunInfo = Pick<HookRun, 'event' | 'index' | 'type' | 'blocking' | 'timeout_seconds' | 'environment'> & {
  readonly command?: string
  readonly plugin?: string
}

/** The fields that a run's end sets. */
export type HookRunResult = Pick<HookRun, 'exit_code' | 'reason' | 'stdout' | 'stderr'> & {
  readonly status: Exclude<HookRun['status'], 'running'>
}

/** The state of a run that clients can read while it runs. */
export interface LiveHookRun {
  /** The output so far, redacted. */
  output: () => Pick<HookRun, 'stdout' | 'stderr'>
  /** Called when there is new output. */
  readonly changed: () => void
}

export interface HookRuns {
  /** Runs a hook and writes its log: one file with one line, written when it has ended. */
  run(task: TaskRecord, start: HookRunInfo, work: (live: LiveHookRun) => Promise<HookRunResult>): Promise<HookRun>
  /** The running hooks of a task, newest first. */
  running(task_id: TaskId): readonly HookRun[]
}

const nothingYet = { stdout: '', stderr: '' }

/**
 * Creates the registry that every run of every hook goes through: clients see the run while it runs, and its log is
 * kept.
 */
export function createHookRuns(context: Ground): HookRuns {
  const runsByTask = new Map<TaskId, Map<string, () => HookRun>>()
  return {
    running: (task_id) => [...(runsByTask.get(task_id)?.values() ?? [])].map((look) => look()).reverse(),
    run: async (task, start, work) => {
      const began = context.clock.now()
      const redact = redactorOf(context, context.store.read, task.project_id)
      const names = runsByTask.get(task.id) ?? new Map<string, () => HookRun>()
      runsByTask.set(task.id, names)
      const log_name = freeName(start, began, names)
      const base = { log_name, ...redacted(start, redact), started_at: new Date(began).toISOString() }
      const changed = () => {
        context.feed.hook({ project_id: task.project_id, task_id: task.id, log_name })
      }
      const live: LiveHookRun = { output: () => nothingYet, changed }
      const soFar = { duration_ms: null, status: 'running', exit_code: null, reason: null } as const
      names.set(log_name, () => ({ ...base, ...soFar, ...live.output() }))
      changed()
      try {
        const end = await work(live)
        const reason = end.reason === null ? null : redact(end.reason)
        const run: HookRun = { ...base, duration_ms: context.clock.now() - began, ...end, reason }
        const { log_name: _name, ...line } = run
        // The hook has run, so its result is kept until the disk takes it.
        await context.writes.untilWritten(async () => {
          const log = await context.logs.openFile(task.id, log_name, (text) => text)
          await afterwards(log.write(`${JSON.stringify(line)}\n`), () => log.close())
        })
        return run
      } finally {
        names.delete(log_name)
        if (names.size === 0) runsByTask.delete(task.id)
      }
    },
  }
}

/**
 * `hook-{event}-{index}-{timestamp}.jsonl`; of two that start in the same millisecond the second counts as one later.
 */
function freeName({ event, index }: HookRunInfo, began: number, taken: ReadonlyMap<string, unknown>): string {
  for (let at = began; ; at += 1) {
    const timestamp = new Date(at).toISOString().replaceAll(':', '-').replace('.', '-')
    const name = `hook-${event}-${index}-${timestamp}.jsonl`
    if (!taken.has(name)) return name
  }
}

function redacted(start: HookRunInfo, redact: (text: string) => string): HookRunInfo {
  return {
    ...start,
    ...(start.command !== undefined && { command: redact(start.command) }),
    environment: Object.fromEntries(Object.entries(start.environment).map(([name, value]) => [name, redact(value)])),
  }
}
