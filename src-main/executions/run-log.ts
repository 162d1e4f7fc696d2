import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import { afterwards } from '../../src-shared/lang/afterwards.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { ExecutionOutcome, RunningExecution, ServerAnswer } from '../ports/executors.ts'
import type { AgentLog } from '../ports/logs.ts'
import { createActivityReporter } from './activity-reporter.ts'
import { createModelWait, withRefusal, type ModelWait } from './model-wait.ts'
import type { RunGround } from './run-ground.ts'

export interface RunWatchers {
  /** Called at every sign of activity of the agent. */
  readonly onActivity: () => void
  /** Called for every transcript entry of the agent. */
  readonly onEntry: (entry: TranscriptEntry) => void
  /** Called once the agent's model is waited for. */
  readonly onModelWait: (wait: ModelWait) => void
}

/** The log of a run, and what is read from it while it is written. */
export interface RunLog {
  /** Takes what the agent says. */
  readonly log: AgentLog
  readonly onAnswer: (answer: ServerAnswer) => void
  /** Names the process, which is ended if its model will not answer. */
  started(process: RunningExecution): void
  /** Returns the outcome, once the log is complete. */
  outcomeOf(process: RunningExecution): Promise<ExecutionOutcome>
  close(): Promise<void>
}

/** Opens the log of a run; one that exists goes on. */
export async function openRunLog(
  context: RunGround,
  run: RunWatchers & { readonly record: ExecutionRecord; readonly executor: AgentRecord['executor'] },
  redaction_patterns: readonly string[],
): Promise<RunLog> {
  const { record } = run
  const { id: execution_id, task_id, project_id } = record
  const activity = createActivityReporter(context.feed, record)
  let own: TranscriptEntry | null = null
  let running: RunningExecution | null = null
  let givenUp = false
  const modelWait = createModelWait({
    feed: context.feed,
    record,
    executor: run.executor,
    now: () => context.clock.now(),
    tell: (entry) => {
      own = entry
      log.entry(entry)
    },
    onHopeless: () => {
      givenUp = true
      void running?.stop()
    },
  })
  run.onModelWait(modelWait)
  const log = await context.logs.openAgent({
    project_id,
    task_id,
    execution_id,
    redact: context.redactor(redaction_patterns),
    onEntry: (entry, shown) => {
      // That the agent is silent is no sign of it.
      if (entry !== own) run.onActivity()
      activity.report(entry.type, shown)
      modelWait.add(entry)
      run.onEntry(entry)
    },
  })
  const close = async (): Promise<void> => {
    activity.end()
    modelWait.end()
    await log.close()
  }
  return {
    log: {
      ...log,
      raw: (bytes) => {
        run.onActivity()
        return log.raw(bytes)
      },
    },
    onAnswer: modelWait.answered,
    started: (process) => {
      running = process
    },
    outcomeOf: (process) =>
      afterwards(
        process.outcome.then((end) => withRefusal(end, modelWait.refusal(), givenUp)),
        // The agent's outcome counts even if the end of its log could not be written.
        () =>
          close().catch((error: unknown) => {
            context.log.warn({ err: error, execution_id }, 'the log of an agent is not complete')
          }),
      ),
    close,
  }
}

/** Returns how a run is left to the next service, where it can be. */
export function leaving(
  { leave }: RunningExecution,
  log: Pick<RunLog, 'close'>,
  unlock: () => Promise<void>,
): Pick<RunningExecution, 'leave'> {
  if (!leave) return {}
  return {
    leave: async () => {
      await leave()
      await log.close()
      await unlock()
    },
  }
}
