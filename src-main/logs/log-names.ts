import { join } from 'node:path'
import type { LogFile } from '../../src-shared/contract/executions.ts'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const logName = /^(agent|hook|ci|landing)-[\w.-]{1,200}\.(?:jsonl|log)$/

/** A name that could leave the log folder, or an id that is none. */
export class LogNameError extends Error {
  override readonly name = 'LogNameError'
  readonly code = 'invalid_log_name'
}

/** What a log is of, by its name; null for a name that no log has. */
export function logKind(name: string): LogFile['kind'] | null {
  return (logName.exec(name)?.[1] as LogFile['kind'] | undefined) ?? null
}

/** The folder of a task's logs. Throws `LogNameError`. */
export function taskFolder(root: string, taskId: string): string {
  if (!uuid.test(taskId)) throw new LogNameError('A task id is a UUID.')
  return join(root, taskId)
}

/** The readable transcript of an execution and the raw bytes beside it. Throws `LogNameError`. */
export function agentLogNames(executionId: string): { readonly transcript: string; readonly raw: string } {
  if (!uuid.test(executionId)) throw new LogNameError('An execution id is a UUID.')
  return { transcript: `agent-${executionId}.jsonl`, raw: `agent-${executionId}.raw.log` }
}
