import { z } from 'zod'
import { Daemon, HostedAgent, ReportedExecution } from '../daemons.ts'
import { UsageReport } from '../executions.ts'
import { DaemonId, ExecutionId } from '../ids.ts'
import { RunnerAnswer, RunnerReport } from '../jobs.ts'
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
      daemon_id: z.union([DaemonId, z.literal('self')]).describe('`self`: the one of the token.'),
      /** Of a program that takes jobs (`svc runner`); with `instance` the machine is a runner. */
      ...RunnerReport.pick({
        instance: true,
        protocol: true,
        wait_seconds: true,
        jobs: true,
        tasks: true,
        containment: true,
      }).partial().shape,
      capacity: z.int().min(1).max(1_000).optional().describe('How many runs it takes at a time.'),
      hostname: z.string().max(255).optional(),
      version: z.string().max(100).optional(),
      agents: z.array(HostedAgent).max(100).optional(),
      executions: z
        .array(z.object({ id: ExecutionId, usage: UsageReport.optional() }))
        .max(1_000)
        .optional(),
    }),
    z.object({
      daemon: Daemon,
      executions: z.array(ReportedExecution),
      ...RunnerAnswer.shape,
    }),
    200,
    ['runner_taken', 'runner_version'],
  ),
} as const
