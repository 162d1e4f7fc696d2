import type { ExecutorProfile } from '../../src-shared/contract/projects.ts'
import { reap } from '../platform/process/process.ts'
import type { Executors } from '../ports/executors.ts'
import { createAcpDriver } from './acp.ts'
import type { AcpAgent } from './acp/acp-agent.ts'
import { acpProfile } from './acp/acp-profile.ts'
import { createAgentDriver } from './agent/agent-driver.ts'
import { createClaudeCodeDriver } from './claude-code.ts'
import { createCodexDriver } from './codex.ts'
import { command } from './command.ts'
import { copilot } from './copilot.ts'
import type { ExecutorProfileDriver } from './executor.ts'
import { external } from './external.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'
import { qwen } from './qwen.ts'

/** Drivers by profile. A profile of the contract that is missing here is a type error. */
export type Drivers = { readonly [K in ExecutorProfile]: ExecutorProfileDriver }

/** A driver of each profile. */
export const createDrivers = (): Drivers => ({
  'claude-code': createClaudeCodeDriver(),
  codex: createCodexDriver(),
  opencode: overAcp(opencode),
  gemini: overAcp(gemini),
  copilot: overAcp(copilot),
  qwen: overAcp(qwen),
  acp: createAcpDriver(),
  command,
  external,
})

/** All executor profiles. */
export function createExecutors(drivers: Drivers = createDrivers()): Executors {
  return {
    location: (profile) => drivers[profile].location,
    start: async (profile, run, options) => await drivers[profile].start(run, options),
    refusedArgs: (profile, config) => drivers[profile].refusedArgs(config),
    reap: async (process, executionId) => await reap(process, executionId),
    detect: async (options) => await Promise.all(Object.values(drivers).map((driver) => driver.detect(options))),
  }
}

const overAcp = (agent: AcpAgent): ExecutorProfileDriver => createAgentDriver(acpProfile(agent))
