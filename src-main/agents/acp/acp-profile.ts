import { policyOf } from '../../domain/access/permissions.ts'
import { createAgentDriver } from '../agent/agent-driver.ts'
import type { AgentProfile } from '../agent/agent-profile.ts'
import type { ExecutorDefinition } from '../definition.ts'
import type { AcpAgent } from './acp-agent.ts'
import { converseOverAcp } from './converse.ts'

/** The profile of an ACP agent. Its MCP token is sent over stdin and stored nowhere. */
export const acpProfile = (agent: AcpAgent): AgentProfile => ({
  program: agent.program,
  configNames: agent.configNames,
  refusedArgs: agent.refusedArgs,
  defaultEnv: () => agent.defaultEnv ?? {},
  prepare: async (run, own, place) => ({
    args: await agent.args(run, own, place),
    ...(policyOf(run.config) !== 'all' && agent.asking && { env: agent.asking }),
  }),
  createSession: (run, listener) => converseOverAcp(agent, run, listener),
  // The agent waits for prompts until its stdin ends, and not every program notices that.
  exitGraceMs: 3_000,
})

/** The definition of an ACP agent. */
export const defineAcpAgent = (agent: AcpAgent): ExecutorDefinition => createAgentDriver(acpProfile(agent))
