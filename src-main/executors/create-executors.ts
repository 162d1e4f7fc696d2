import type { ExecutorProfile } from '../../src-shared/contract/projects.ts'
import { reap } from '../base/process.ts'
import type { Executors } from '../engine/ports.ts'
import { createClaudeCodeDriver } from './claude-code.ts'
import { command } from './command.ts'
import type { ExecutorProfileDriver } from './executor.ts'
import { external } from './external.ts'

/** All executor profiles. A profile of the contract that is missing here is a type error. */
export function createExecutors(): Executors {
  const drivers = {
    'claude-code': createClaudeCodeDriver(),
    command,
    external,
  } as const satisfies { [K in ExecutorProfile]: ExecutorProfileDriver }
  return {
    hosting: (profile) => drivers[profile].hosting,
    start: async (profile, run, options) => await drivers[profile].start(run, options),
    reap: async (process, executionId) => await reap(process, executionId),
    detect: async (options) => await Promise.all(Object.values(drivers).map((driver) => driver.detect(options))),
  }
}
