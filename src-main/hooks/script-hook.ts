import type { ScriptHook } from '../../src-shared/contract/lifecycle-hooks.ts'
import { createOutputCapture } from '../platform/text/output-capture.ts'
import type { ContainmentRules } from '../ports/containment.ts'
import type { Scripts } from '../ports/scripts.ts'
import type { HookRunResult, LiveHookRun } from './hook-runs.ts'

/** In bytes, for each of stdout and stderr. */
const maxOutputBytes = 10 * 1024

/** Aborts a hook because the run that it belongs to has ended; its log gives this reason. */
export class HookAborted extends Error {
  override readonly name = 'HookAborted'
  readonly code = 'hook_ended'
}

export interface ScriptCall {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly redact: (text: string) => string
  readonly containment: ContainmentRules
  /** Returns the marker by which the next service finds processes that a killed one left. */
  readonly processMarker?: () => string
  readonly signal: AbortSignal
}

/** Runs the script of a hook and returns its result. Throws when the service ends. */
export async function runScriptHook(
  scripts: Scripts,
  hook: Pick<ScriptHook, 'command' | 'timeout_seconds' | 'success_exit_codes'>,
  { cwd, env, redact, containment, processMarker, signal }: ScriptCall,
  live?: LiveHookRun,
): Promise<HookRunResult> {
  const stdout = createOutputCapture({ maxBytes: maxOutputBytes, redact })
  const stderr = createOutputCapture({ maxBytes: maxOutputBytes, redact })
  const output = () => ({ stdout: stdout.text(), stderr: stderr.text() })
  if (live) live.output = output
  const { exit_code, timed_out, not_run } = await scripts.run(
    {
      command: hook.command,
      cwd,
      env,
      stdout,
      stderr,
      containment,
      timeout_ms: hook.timeout_seconds * 1_000,
      ...(live && { onOutput: live.changed }),
      ...(processMarker && { processMarker: processMarker() }),
    },
    { signal },
  )
  if (signal.aborted) {
    if (!(signal.reason instanceof HookAborted)) signal.throwIfAborted()
    return { status: 'failed', exit_code, reason: 'ended, as the work was over', ...output() }
  }
  if (not_run !== undefined) return { status: 'failed', exit_code: null, reason: not_run, ...output() }
  if (timed_out) {
    return { status: 'timed_out', exit_code, reason: `timed out after ${hook.timeout_seconds} s`, ...output() }
  }
  const isSuccess = hook.success_exit_codes.includes(exit_code)
  return { ...ended(isSuccess, exit_code), ...output() }
}

function ended(isSuccess: boolean, exit_code: number): Pick<HookRunResult, 'status' | 'exit_code' | 'reason'> {
  return isSuccess
    ? { status: 'succeeded', exit_code, reason: null }
    : { status: 'failed', exit_code, reason: `exit code ${exit_code}` }
}

/** The result of a hook that did not run. */
export function skippedRun(reason: string): HookRunResult {
  return { status: 'skipped', exit_code: null, reason, stdout: '', stderr: '' }
}
