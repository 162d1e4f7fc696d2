import type { HookRun } from '../../../../src-shared/contract/lifecycle-hooks.ts'

/** A succeeded run with the given changes. `second`: its start, in seconds after eight o'clock. */
export function runOf(second: number, rest: Partial<HookRun> = {}): HookRun {
  const started_at = new Date(Date.UTC(2026, 10, 21, 8, 0, second)).toISOString()
  const { event = 'before_work', index = 0 } = rest
  return {
    log_name: `hook-${event}-${index}-${second}.jsonl`,
    event,
    index,
    type: 'script',
    command: 'npm ci',
    blocking: true,
    timeout_seconds: 30,
    started_at,
    duration_ms: 1_200,
    status: 'succeeded',
    exit_code: 0,
    reason: null,
    stdout: '',
    stderr: '',
    environment: {},
    ...rest,
  }
}
