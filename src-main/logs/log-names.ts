import { join } from 'node:path'
import type { LogFile } from '../../src-shared/contract/executions.ts'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const logName = /^(agent|hook|ci|landing)-[\w.-]{1,200}\.(?:jsonl|log)$/

/** A name that could leave the log folder, or an invalid ID. */
export class LogNameError extends Error {
  override readonly name = 'LogNameError'
  readonly code = 'invalid_log_name'
}

/** Returns the kind of a log by its name, or null for an invalid name. */
export function logKind(name: string): LogFile['kind'] | null {
  return (logName.exec(name)?.[1] as LogFile['kind'] | undefined) ?? null
}

/** Returns the folder of a task's logs. Throws `LogNameError`. */
export function taskFolder(root: string, taskId: string): string {
  if (!uuid.test(taskId)) throw new LogNameError('A task id is a UUID.')
  return join(root, taskId)
}

/** Returns the names of an execution's transcript and raw log. Throws `LogNameError`. */
export function agentLogNames(executionId: string): { readonly transcript: string; readonly raw: string } {
  if (!uuid.test(executionId)) throw new LogNameError('An execution id is a UUID.')
  return { transcript: `agent-${executionId}.jsonl`, raw: `agent-${executionId}.raw.log` }
}
