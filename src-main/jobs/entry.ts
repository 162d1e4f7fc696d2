import type { ExecutionId, JobId, RunnerId } from '../../src-shared/contract/ids.ts'
import { silentSeconds, type JobInput, type JobSpec } from '../../src-shared/contract/jobs.ts'
import type { JobGround, JobLogMark, JobRecord } from '../ports/job-queries.ts'
import type { JobEnd, JobOwner, JobWork } from './job.ts'
import { newLease, type Lease } from './rules/lease.ts'

/** A job that is on offer or that a runner has. Of one that is over, its record alone is left. */
export interface Entry {
  readonly id: JobId
  readonly kind: JobSpec['kind']
  readonly runner_id: RunnerId
  readonly task_id: string
  readonly execution_id: ExecutionId | null
  readonly ground: JobGround
  readonly needsContact: boolean
  /** null: the runner has it from an earlier service, and none has taken it up yet. */
  owner: JobOwner | null
  /** null: the runner has it. */
  spec: Omit<JobSpec, 'job'> | null
  lease: Lease
  /** The hash of every token that was given out, with its fence. */
  readonly tokens: Map<string, number>
  /** Ends what the newest token opens. */
  grantEnd: AbortController
  inputs: readonly JobInput[]
  lastInput: number
  readonly received: Map<string, number>
  readonly marks: Map<string, JobLogMark>
  /** The logs that bytes are being added to. */
  readonly busy: Set<string>
  readonly asked: Set<string>
  stopping: boolean
  sent: number
  linkSince: string | null
  wake: PromiseWithResolvers<void>
  readonly taken: PromiseWithResolvers<void>
  readonly begun: PromiseWithResolvers<void>
  isBegun: boolean
  readonly ended: PromiseWithResolvers<JobEnd>
  readonly settled: PromiseWithResolvers<void>
  finishing: Promise<void> | null
  finishedWith: number | null
  untaken: string | null
}

const emptyParts = () => ({
  grantEnd: new AbortController(),
  busy: new Set<string>(),
  asked: new Set<string>(),
  wake: Promise.withResolvers<void>(),
  taken: Promise.withResolvers<void>(),
  begun: Promise.withResolvers<void>(),
  ended: Promise.withResolvers<JobEnd>(),
  settled: Promise.withResolvers<void>(),
  finishing: null,
  finishedWith: null,
  linkSince: null,
  untaken: null,
})

export function newEntry(id: JobId, work: JobWork): Entry {
  const { spec, runner_id, loan } = work
  return {
    ...emptyParts(),
    id,
    kind: spec.kind,
    runner_id,
    task_id: spec.task_id,
    execution_id: spec.execution?.id ?? null,
    ground: { folder: spec.folder, files: spec.files, loan },
    needsContact: work.needs_contact,
    owner: work,
    spec,
    lease: newLease,
    tokens: new Map(),
    inputs: [],
    lastInput: 0,
    received: new Map(),
    marks: new Map(),
    stopping: false,
    sent: 0,
    isBegun: false,
  }
}

/** Returns a run that a runner took from an earlier service. Its link counts as lost until it is heard. */
export function entryOf(record: JobRecord): Entry {
  const { id, runner_id, task_id, execution_id, ground, spec, fence, instance, inputs, stopping } = record
  const marks = Object.entries(record.logs)
  return {
    ...emptyParts(),
    id,
    kind: 'run',
    runner_id,
    task_id,
    execution_id,
    ground,
    needsContact: false,
    owner: null,
    spec,
    lease: { fence, state: 'accepted', instance, silent_ms: silentSeconds * 1_000 + 1 },
    tokens: new Map(record.tokens),
    inputs,
    lastInput: record.last_input,
    received: new Map(marks.map(([name, { offset }]) => [name, offset])),
    marks: new Map(marks),
    stopping,
    sent: record.sent_bytes,
    isBegun: true,
  }
}

/** The variable with the run's own token, of which the database has the hash alone. */
export const tokenVariable = 'SVC_API_TOKEN'

/** Returns what outlives the service. */
export function recordOf(entry: Entry): JobRecord {
  const { id, runner_id, task_id, execution_id, ground, spec, lease, stopping } = entry
  return {
    id,
    runner_id,
    task_id,
    execution_id,
    state: 'accepted',
    fence: lease.fence,
    instance: lease.instance,
    tokens: [...entry.tokens],
    spec: spec && { ...spec, env: withoutToken(spec.env) },
    ground,
    inputs: entry.inputs,
    last_input: entry.lastInput,
    logs: Object.fromEntries(entry.marks),
    sent_bytes: entry.sent,
    stopping,
    finished_fence: null,
    over_at: null,
  }
}

/** Returns what is left of a job that is over: who may still speak of it. */
export function overRecord(record: JobRecord, end: Pick<JobRecord, 'fence' | 'finished_fence' | 'over_at'>): JobRecord {
  return {
    ...record,
    ...end,
    state: 'over',
    spec: null,
    ground: { folder: '', files: [], loan: '' },
    inputs: [],
    logs: {},
  }
}

function withoutToken({ [tokenVariable]: _token, ...env }: JobSpec['env']): JobSpec['env'] {
  return env
}
