import { z } from 'zod'
import { AccountWindow } from './accounts.ts'
import { ContainmentLevel, ContainmentStatus } from './containment.ts'
import { Ask, Usage, UsageReport } from './executions.ts'
import { executorProfiles } from './executor-profiles.ts'
import { AgentId, ExecutionId, JobId, TaskId, Timestamp } from './ids.ts'
import { AgentConfig } from './projects.ts'

/**
 * The version of all that a runner and the service say to each other. Another one is `runner_version` and gets no new
 * job; what it says of the jobs that it has is understood until these end.
 */
export const jobProtocol = 3

/** How long a runner may be silent before its link counts as lost, in seconds. */
export const silentSeconds = 30

/** After so many hours without contact a runner ends its run and keeps the work. */
export const lonelyHours = 4

const commit = z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/)
const variables = z.record(z.string(), z.string())

/** A file that a job needs beside its repository. */
export const JobFile = z.object({
  n: z.int().min(0),
  path: z.string().describe('Its path on the service’s machine, which the runner leads to a folder of its own.'),
  mode: z.int(),
  sha256: z.string(),
})
export type JobFile = z.infer<typeof JobFile>

/** The agent of a run, as a local run gets it. */
const JobAgent = z.object({
  id: AgentId.nullable(),
  executor: z.enum(executorProfiles),
  config: AgentConfig,
  own_command: z.string().optional(),
  images: z.array(z.object({ media_type: z.string(), data_base64: z.string() })),
  session_usage: Usage.nullable(),
  can_ask: z.boolean(),
  has_mcp: z.boolean(),
})
/** A shell command of a job. */
const JobStep = z.object({ command: z.string(), timeout_ms: z.number().positive() })
/** All that a runner needs to know of its work. */
export const JobSpec = z.object({
  job: JobId,
  kind: z.enum(['run', 'steps']),
  task_id: TaskId,
  execution: z.object({ id: ExecutionId, timeout_seconds: z.number().nullable() }).nullable(),
  folder: z
    .string()
    .describe('The work’s folder on the service’s machine. In texts and variables it stands for the folder there.'),
  /** Fetched and pushed at `/api/v1/git/{job}.git` with the job's token as password. */
  repository: z.object({
    branch: z.string(),
    base_commit: commit,
    head: commit,
    snapshot: commit.nullable().describe('Uncommitted files that the folder has on top of `head`.'),
    is_task: z
      .boolean()
      .describe('The folder is the task’s worktree, whose work comes back; else one for this job alone.'),
    user: z
      .object({ name: z.string(), email: z.string() })
      .nullable()
      .describe('Who commits, where git there has no one.'),
  }),
  files: z.array(JobFile),
  setup_commands: z.array(z.string()).describe('Run once in a new folder.'),
  agent: JobAgent.nullable(),
  prompt: z.string(),
  env: variables,
  session_id: z.string().nullable(),
  steps: z.array(JobStep),
  containment: z
    .object({
      level: ContainmentLevel,
      hosts: z.array(z.string()).optional(),
      read: z.array(z.string()).optional(),
      write: z.array(z.string()).optional(),
    })
    .nullable(),
  limits: z.object({ max_snapshot_file_mb: z.number().positive() }),
})
export type JobSpec = z.infer<typeof JobSpec>

export const JobOffer = z.object({ job_id: JobId, token: z.string(), fence: z.int().positive() })
export type JobOffer = z.infer<typeof JobOffer>

/** What a runner says when it asks for work. */
export const RunnerReport = z.object({
  instance: z.string().min(1).max(100).describe('Another one each time that the runner is started.'),
  protocol: z.int(),
  wait_seconds: z.number().min(0).max(10).default(0),
  jobs: z.array(JobId).max(1_000).default([]).describe('Jobs that it still has, also from before it was started.'),
  tasks: z.array(TaskId).max(1_000).default([]).describe('Tasks of which it keeps a folder.'),
  containment: ContainmentStatus.optional().describe('How its machine can contain runs.'),
})
export type RunnerReport = z.infer<typeof RunnerReport>
/** What of it counts for its jobs. */
export type JobReport = Omit<RunnerReport, 'tasks'>

/** What a runner is answered. */
export const RunnerAnswer = z.object({
  jobs: z
    .array(JobOffer)
    .describe('Jobs for this machine; each is offered again, with another token, until it is accepted.'),
  ended: z.array(TaskId).default([]).describe('Of the tasks named, those that have no worktree any longer.'),
})
export type RunnerAnswer = z.infer<typeof RunnerAnswer>

const fenced = { fence: z.int().positive() }

export const JobAccept = z.object({ ...fenced, instance: z.string().min(1).max(100), protocol: z.int() })

/** What a runner gets for its job after the start, in order. */
export const JobInput = z.discriminatedUnion('kind', [
  z.object({ n: z.int(), kind: z.literal('keys'), data: z.string() }),
  z.object({ n: z.int(), kind: z.literal('size'), cols: z.int(), rows: z.int() }),
  z.object({
    n: z.int(),
    kind: z.literal('answer'),
    ask_id: z.string(),
    answer: z.object({ option: z.unknown().nullable(), text: z.string().nullable() }).nullable(),
  }),
])
export type JobInput = z.infer<typeof JobInput>

export const JobBeat = z.object({
  ...fenced,
  seen: z.int().min(0).describe('The number of the last input that was taken.'),
  wait_seconds: z.number().min(0).max(10).default(0),
  usage: UsageReport.optional(),
  now: z.iso.datetime().describe('The runner’s clock.'),
})
export const JobBeatAnswer = z.object({
  action: z.enum(['continue', 'stop']),
  reason: z.string().optional(),
  inputs: z.array(JobInput),
})
export type JobBeatAnswer = z.infer<typeof JobBeatAnswer>

export const JobAsk = z.object({
  ...fenced,
  ask_id: z.string().min(1).max(100),
  request: Ask.omit({ id: true, asked_at: true }),
})

/** The names of a job's logs. */
export const JobLogName = z.string().regex(/^[\w-][\w.-]{0,99}$/)

/** What the agent's adapter there has concluded. What it says wrongly counts as not said: its runner may be hostile. */
export const JobOutcome = z.object({
  ended: z.enum(['exited', 'stopped', 'timed_out', 'failed_to_start']).catch('exited'),
  conclusion: z.enum(['done', 'talked', 'question', 'limit', 'silent']).catch('done'),
  usage_limit: z
    .object({ resets_at: Timestamp.nullable(), account: z.string().max(500).optional() })
    .optional()
    .catch(undefined),
  unasked: z
    .object({ count: z.int().min(0), actions: z.array(z.string().max(10_000)).max(1_000) })
    .optional()
    .catch(undefined),
  windows: z.array(AccountWindow).max(100).optional().catch(undefined),
})

export const JobFinish = z.object({
  ...fenced,
  status: z.enum(['done', 'failed', 'stopped']),
  exit_code: z.int().nullable(),
  session_id: z.string().nullable(),
  usage: Usage.nullable(),
  outcome: JobOutcome.nullable().describe('The rest of a run’s outcome.'),
  message: z.string().max(10_000).nullable(),
  logs: z.record(JobLogName, z.int().min(0)).describe('How long each log is, in bytes.'),
  refs: z.record(z.string(), commit).describe('What each ref of the job’s repository must name.'),
  left_there: z.array(z.string().max(4_096)).max(1_000).describe('Files that were too large to come along.'),
})
export type JobFinish = z.infer<typeof JobFinish>
