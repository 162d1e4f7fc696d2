import type { OutputCapture } from '../platform/text/output-capture.ts'
import type { Cancellable } from './cancellable.ts'
import type { ContainmentRules } from './containment.ts'
import type { LogWriter } from './logs.ts'

export interface ScriptRun {
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeout_ms: number
  /** Receives both outputs, line by line. */
  readonly log?: LogWriter
  /**
   * Receive each output separately as it arrives; `stderr` also receives why the script could not start or was
   * stopped.
   */
  readonly stdout?: OutputCapture
  readonly stderr?: OutputCapture
  /** Called when there is new output, at most every 250 ms, and once at the end. */
  readonly onOutput?: () => void
  /** Absent: the script is not contained. */
  readonly containment?: ContainmentRules
  /** A UUID in the environment by which a later service finds leftover processes. */
  readonly processMarker?: string
}

export interface ScriptResult {
  /** 124 after a time-out, 130 when cancelled. */
  readonly exit_code: number
  readonly timed_out: boolean
  readonly duration_ms: number
  /** The last 10 KB of stdout and stderr together, cut at whole characters. */
  readonly output_tail: string
  /** Why its runner could not run it to its end, with what to do about it; absent: it ran, or could not start here. */
  readonly not_run?: string
}

export interface Scripts {
  /** Runs a shell command in its own process group; all its processes are gone when the promise settles. */
  run(script: ScriptRun, options: Cancellable): Promise<ScriptResult>
  /** Kills what a killed service left running of the scripts with this marker. */
  reap(processMarker: string): Promise<void>
}
