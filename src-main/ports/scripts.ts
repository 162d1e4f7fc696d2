import type { OutputCapture } from '../platform/text/output-capture.ts'
import type { Cancellable } from './cancellable.ts'
import type { ContainmentRules } from './containment.ts'
import type { LogWriter } from './logs.ts'

export interface ScriptRun {
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeout_ms: number
  /** Takes both outputs, line by line. */
  readonly log?: LogWriter
  /** They take each output by itself, as it comes; `stderr` also why it could not be started or was stopped. */
  readonly stdout?: OutputCapture
  readonly stderr?: OutputCapture
  /** There is more output than at the last call: at most every 250 ms, and once at the end. */
  readonly onOutput?: () => void
  /** What it is held to; absent: it is not contained. */
  readonly containment?: ContainmentRules
  /** A UUID by which a later service finds what a killed one left. */
  readonly processMarker?: string
}

export interface ScriptResult {
  /** 124 when it ran out of time, 130 when it was cancelled. */
  readonly exit_code: number
  readonly timed_out: boolean
  readonly duration_ms: number
  /** The last 10 KB of stdout and stderr together, whole characters only. */
  readonly output_tail: string
}

export interface Scripts {
  /** Runs a shell command in its own process group; no process of it is left when it settles. */
  run(script: ScriptRun, options: Cancellable): Promise<ScriptResult>
  /** Ends what a killed service left running of the scripts with this mark. */
  reap(processMarker: string): Promise<void>
}
