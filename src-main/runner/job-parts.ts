import type { KeyedLock } from '../platform/locks/keyed-lock.ts'
import type { Logger } from '../platform/logging/log.ts'
import type { Executors } from '../ports/executors.ts'
import type { Scripts } from '../ports/scripts.ts'
import type { JobPorts } from './job-ports.ts'
import type { OtherPrograms } from './other-programs.ts'
import type { ServiceCalls } from './service-calls.ts'

/** What a job is done with. */
export interface JobParts {
  readonly service: ServiceCalls
  /** The runner's folder, which no one else may read. */
  readonly folder: string
  /** The folder of this program in it, or the same. */
  readonly own: string
  readonly instance: string
  readonly runs: Executors
  readonly scripts: Scripts
  readonly takeOver?: (worktree: string) => Promise<void>
  /** The words that start the runner's program. */
  readonly program: readonly string[]
  /** Aborts when a runner that ends has no more time to send what its jobs have. */
  readonly late: AbortSignal
  /** Of each task, one job at a time works in its worktree. */
  readonly locks: KeyedLock
  readonly log: Logger
  /** Absent where the service reaches no ports. */
  readonly ports?: Pick<JobPorts, 'watch'>
  /** Absent where no other program can have jobs in the folder. */
  readonly others?: Pick<OtherPrograms, 'untilFree'>
}
