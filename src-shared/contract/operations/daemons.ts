import { z } from 'zod'
import { Daemon, HostedAgent, ReportedExecution } from '../daemons.ts'
import { UsageReport } from '../executions.ts'
import { DaemonId, ExecutionId } from '../ids.ts'
import { del, get, list, post } from '../operation.ts'

export const daemonsOperations = {
  'daemons.create': post(
    '/daemons',
    'human',
    'Register a machine that hosts agents; its token is shown this once.',
    z.object({ name: z.string().trim().min(1).max(100) }),
    z.object({ daemon: Daemon, token: z.string() }),
    201,
  ),
  'daemons.list': get(
    '/daemons',
    'human',
    'The caller’s daemons; an admin’s list has all.',
    z.object({}),
    list(Daemon),
  ),
  'daemons.delete': del(
    '/daemons/{daemon_id}',
    'human',
    'Revoke a daemon: its token works no more and its agents are paused.',
    z.object({ daemon_id: DaemonId }),
    ['forbidden'],
  ),
  'daemons.report': post(
    '/daemons/{daemon_id}/report',
    'daemon',
    'Say what runs on the machine. It makes and updates its agents by name, and is the heartbeat of the executions listed.',
    z.object({
      daemon_id: DaemonId,
      hostname: z.string().max(255).optional(),
      version: z.string().max(100).optional(),
      agents: z.array(HostedAgent).max(100).optional(),
      executions: z
        .array(z.object({ id: ExecutionId, usage: UsageReport.optional() }))
        .max(1_000)
        .optional(),
    }),
    z.object({ daemon: Daemon, executions: z.array(ReportedExecution) }),
  ),
} as const
