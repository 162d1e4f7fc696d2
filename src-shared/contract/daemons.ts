import { executorProfiles } from './executor-profiles.ts'
import { z } from 'zod'
import { runInstruction } from './executions.ts'
import { ExecutionId, DaemonId, Timestamp, UserId } from './ids.ts'
import { AgentConfig } from './projects.ts'
import { shownName } from './shown-name.ts'

/** A machine that hosts agents. */
export const Daemon = z
  .object({
    id: DaemonId,
    name: z.string(),
    owner_id: UserId.nullable(),
    hostname: z.string().nullable(),
    version: z.string().nullable(),
    created_at: Timestamp,
    last_seen_at: Timestamp.nullable(),
  })
  .meta({ id: 'Daemon' })
export type Daemon = z.infer<typeof Daemon>

/** A daemon's report of an agent that it hosts; without `config` a known agent keeps its own. */
export const HostedAgent = z.object({
  name: shownName().min(1).max(100),
  executor: z.enum(executorProfiles),
  config: AgentConfig.optional(),
})
export type HostedAgent = z.infer<typeof HostedAgent>

/** The instruction for a daemon about an execution that it has reported. */
export const ReportedExecution = z.object({ id: ExecutionId, ...runInstruction })
export type ReportedExecution = z.infer<typeof ReportedExecution>
