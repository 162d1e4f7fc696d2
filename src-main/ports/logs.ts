import type { TranscriptItem } from '../../src-shared/contract/events.ts'
import type { LogFile, LogSlice, TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { ExecutionId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Cancellable } from './cancellable.ts'

export interface LogWriter {
  /** Redacts and appends. Resolves when the writer can take more. The bytes must not change any more. */
  write(bytes: Uint8Array | string): Promise<void>
  close(): Promise<void>
}

/** `entry` is as the agent said it, with its secrets; `shown` returns it as it is stored. */
export type EntryListener = (entry: TranscriptEntry, shown: () => TranscriptEntry) => void

export interface AgentLog {
  /** Adds a readable entry (redacted) to `agent-{execution}.jsonl`. */
  entry(entry: TranscriptEntry): void
  /** Adds raw bytes (redacted), which must not change any more, to `agent-{execution}.raw.log`. */
  raw(bytes: Uint8Array): Promise<void>
  /** Ends an unfinished last line of the raw bytes, for a terminal that shows them. */
  show?(): Promise<void>
  /** Resolves once all that was added is in the files, but for `held` raw bytes whose line is not complete. */
  saved?(): Promise<AgentLogSizes & { readonly held: number }>
  close(): Promise<void>
}

/** The sizes of an agent log's files, in bytes. */
export interface AgentLogSizes {
  readonly transcript: number
  readonly raw: number
}

export interface Logs {
  openAgent(run: {
    readonly project_id: ProjectId
    readonly task_id: TaskId
    readonly execution_id: ExecutionId
    readonly redact: (text: string) => string
    readonly onEntry?: EntryListener
  }): Promise<AgentLog>
  /** Cuts what an agent log has beyond these sizes; no one may be writing it. */
  cutAgent(task_id: TaskId, execution_id: ExecutionId, sizes: AgentLogSizes): Promise<void>
  openFile(task_id: TaskId, name: string, redact: (text: string) => string): Promise<LogWriter>
  /** Writes the knowledge for the task's agents into a file beside the logs and returns its path. */
  writeKnowledge(task_id: TaskId, text: string): Promise<string>
  list(task_id: TaskId, execution_id?: ExecutionId): Promise<readonly LogFile[]>
  /** Removes all logs of a task. */
  forget(task_id: TaskId): Promise<void>
  /** Returns null if there is no such log. */
  read(
    task_id: TaskId,
    name: string,
    offset: number,
    limit: number,
    /** How long to wait for more if the log is still empty. */
    wait?: Cancellable & { readonly ms: number },
  ): Promise<LogSlice | null>
  /** Yields the entries from line `from` on: stored ones, then live ones, then `end` once the log is closed. */
  follow(task_id: TaskId, execution_id: ExecutionId, from: number, options: Cancellable): AsyncIterable<TranscriptItem>
}
