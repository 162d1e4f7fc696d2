import { ApiError } from '../../src-shared/contract/errors.ts'
import type { ExecutionId, JobId, RunnerId } from '../../src-shared/contract/ids.ts'
import {
  silentSeconds,
  type JobAccept,
  type JobAsk,
  type JobBeat,
  type JobBeatAnswer,
  type JobFinish,
  type JobInput,
  type JobOffer,
  type JobSpec,
  type RunnerReport,
} from '../../src-shared/contract/jobs.ts'
import type { z } from 'zod'
import { afterwards } from '../../src-shared/lang/afterwards.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { Clock } from '../ports/clock.ts'
import type { JobAccess, JobGrant } from '../ports/job-access.ts'
import type { JobSeeker } from '../ports/runner-tokens.ts'
import type { Job, JobEnd, JobWork } from './job.ts'
import { checkProtocol, leaseLost, offsetMismatch } from './job-refusals.ts'
import { accept, endLease, giveOut, isLinkLost, isLost, newLease, pass, speak, type Lease } from './rules/lease.ts'

/** The jobs of all runners. Its methods throw `ApiError` with what a runner is told. */
export interface Jobs extends JobAccess {
  offer(work: JobWork): Job
  /** Gives out what is on offer for a runner or a pod; waits for it if nothing is. */
  next(seeker: JobSeeker, report: RunnerReport, options: Cancellable): Promise<readonly JobOffer[]>
  accept(call: JobCall, input: z.infer<typeof JobAccept>): JobSpec
  file(call: JobCall, n: number, fence: number): Promise<Uint8Array>
  beat(call: JobCall, input: z.infer<typeof JobBeat>, options: Cancellable): Promise<JobBeatAnswer>
  /** Appends to a log: `bytes` begins at `offset` of it. */
  log(
    call: JobCall,
    log: { readonly name: string; readonly offset: number; readonly fence: number },
    bytes: Uint8Array,
  ): Promise<void>
  ask(call: JobCall, input: z.infer<typeof JobAsk>): void
  finish(call: JobCall, input: JobFinish, options: Cancellable): Promise<void>
  /** The runner said, or was seen, to be gone: its jobs are lost. */
  lose(runner_id: RunnerId, why: string): void
  /** What carries a job can't start, or has ended; `why` is a sentence. */
  loseJob(job_id: JobId, why: string): void
  /** Counts silence; called every `sweepMs` once started. */
  sweep(): void
  start(): void
  /** The service ends: so do all jobs, because no runner finds them again. */
  close(): void
  /** Returns whether a job is the runner's. */
  isOf(job_id: string, runner_id: RunnerId): boolean
  /** Returns whether a run is on the runner. */
  hasRun(runner_id: RunnerId, execution_id: ExecutionId): boolean
  /** Returns how many runs a runner has, also those that are being stopped. */
  running(runner_id: RunnerId): number
}

/** Which job a request is about, and the token that it brings. */
export interface JobCall {
  readonly job_id: string
  readonly token: string | null
}

export const sweepMs = 5_000
const keptMs = 24 * 3_600_000

interface Entry {
  readonly id: JobId
  readonly work: JobWork
  lease: Lease
  /** Every token that was given out, with its fence. */
  readonly tokens: Map<string, number>
  /** The grant of the newest token. */
  grant: { readonly token: string; readonly end: AbortController } | null
  readonly inputs: JobInput[]
  readonly received: Map<string, number>
  /** The logs that bytes are being added to. */
  readonly busy: Set<string>
  readonly asked: Set<string>
  stopping: boolean
  sent: number
  hasBroughtLate: boolean
  linkSince: string | null
  wake: PromiseWithResolvers<void>
  readonly taken: PromiseWithResolvers<void>
  readonly ended: PromiseWithResolvers<JobEnd>
  finishing: Promise<void> | null
  finishedWith: number | null
  overAt: number | null
}

export interface JobsParts {
  readonly clock: Clock
  readonly newId: () => string
  /** A new secret, which no other program can guess. */
  readonly newToken: () => string
}

export function createJobs({ clock, newId, newToken }: JobsParts): Jobs {
  const entries = new Map<string, Entry>()
  let offered = Promise.withResolvers<void>()
  /** The live process of each runner or pod. */
  const instances = new Map<string, { readonly instance: string; seenAt: number }>()
  let sweptAt = clock.now()
  let sweeping: ReturnType<typeof setInterval> | undefined
  const nowIso = (): string => new Date(clock.now()).toISOString()

  const find = ({ job_id, token }: JobCall): { readonly entry: Entry; readonly fence: number } => {
    const entry = entries.get(job_id)
    const fence = token === null ? undefined : entry?.tokens.get(token)
    if (entry === undefined || fence === undefined)
      throw new ApiError({ code: 'invalid_token', message: 'This token opens no such job.' })
    return { entry, fence }
  }
  /** Returns the job of a call whose token and fence are the newest. */
  const speaking = (call: JobCall, fence: number): Entry => {
    const { entry, fence: own } = find(call)
    const lease = own === fence ? speak(entry.lease, fence) : 'lease_lost'
    if (lease === 'lease_lost') throw leaseLost()
    entry.lease = lease
    noteLink(entry)
    return entry
  }
  const noteLink = (entry: Entry): void => {
    const lost = isLinkLost(entry.lease, limitsOf(entry.work))
    if (lost === (entry.linkSince !== null)) return
    entry.linkSince = lost ? nowIso() : null
    entry.work.onLink({ state: lost ? 'lost' : 'connected', since: entry.linkSince ?? nowIso() })
  }
  const over = (entry: Entry, end: JobEnd): void => {
    entry.lease = endLease(entry.lease)
    entry.overAt = clock.now()
    entry.grant?.end.abort(new Error('The job has ended.'))
    entry.taken.resolve()
    entry.ended.resolve(end)
    entry.wake.resolve()
  }
  const wakeUp = (entry: Entry): void => {
    entry.wake.resolve()
    entry.wake = Promise.withResolvers()
  }
  const giveOutTo = ({ runner_id, job_id }: JobSeeker): readonly JobOffer[] =>
    [...entries.values()].flatMap((entry) => {
      const isFor = entry.work.runner_id === runner_id && (job_id === null || job_id === entry.id)
      const lease = isFor ? giveOut(entry.lease) : null
      if (lease === null) return []
      entry.lease = lease
      const token = newToken()
      entry.tokens.set(token, lease.fence)
      entry.grant?.end.abort(new Error('The job was given out again.'))
      entry.grant = { token, end: new AbortController() }
      return { job_id: entry.id, token, fence: lease.fence }
    })

  const jobs: Jobs = {
    offer: (work) => {
      const id = newId() as JobId
      const entry: Entry = {
        id,
        work,
        lease: newLease,
        tokens: new Map(),
        grant: null,
        inputs: [],
        received: new Map(),
        busy: new Set(),
        asked: new Set(),
        stopping: false,
        sent: 0,
        hasBroughtLate: false,
        linkSince: null,
        wake: Promise.withResolvers(),
        taken: Promise.withResolvers(),
        ended: Promise.withResolvers(),
        finishing: null,
        finishedWith: null,
        overAt: null,
      }
      entries.set(id, entry)
      offered.resolve()
      offered = Promise.withResolvers()
      return {
        id,
        ended: entry.ended.promise,
        taken: entry.taken.promise,
        input: (input) => {
          entry.inputs.push({ ...input, n: entry.inputs.length + 1 } as JobInput)
          wakeUp(entry)
        },
        stop: () => {
          entry.stopping = true
          if (entry.lease.state === 'offered') over(entry, { kind: 'withdrawn' })
          else wakeUp(entry)
        },
        isLinkLost: () => entry.linkSince !== null,
      }
    },
    next: async (seeker, { instance, protocol, wait_seconds }, { signal }) => {
      checkProtocol(protocol)
      const who = seeker.job_id ?? seeker.runner_id
      const known = instances.get(who)
      if (known !== undefined && known.instance !== instance && clock.now() - known.seenAt < silentSeconds * 1_000)
        throw new ApiError({
          code: 'runner_taken',
          message: 'Another runner with this name is connected. End it, or give this one a token of its own.',
        })
      const seen = { instance, seenAt: clock.now() }
      instances.set(who, seen)
      const found = giveOutTo(seeker)
      if (found.length > 0 || wait_seconds === 0) return found
      const end = clock.now() + wait_seconds * 1_000
      for (let left = wait_seconds * 1_000; left > 0 && !signal.aborted; left = end - clock.now()) {
        await waitFor(offered.promise, left, signal)
        seen.seenAt = clock.now()
        const given = signal.aborted ? [] : giveOutTo(seeker)
        if (given.length > 0) return given
      }
      return []
    },
    accept: (call, { fence, instance, protocol }) => {
      checkProtocol(protocol)
      const { entry, fence: own } = find(call)
      const lease = own === fence ? accept(entry.lease, { fence, instance }) : 'lease_lost'
      if (lease === 'lease_lost') throw leaseLost()
      if (entry.lease.state === 'offered') entry.work.onLink({ state: 'connected', since: nowIso() })
      entry.lease = lease
      entry.taken.resolve()
      return { ...entry.work.spec, job: entry.id }
    },
    file: async (call, n, fence) => {
      const bytes = await speaking(call, fence).work.file(n)
      if (bytes === null) throw new ApiError({ code: 'not_found', message: 'This job has no such file.' })
      return bytes
    },
    beat: async (call, input, { signal }) => {
      const entry = speaking(call, input.fence)
      entry.work.onBeat(input)
      const answer = (): JobBeatAnswer => ({
        action: entry.stopping ? 'stop' : 'continue',
        inputs: entry.inputs.slice(input.seen),
      })
      const first = answer()
      if (first.action === 'stop' || first.inputs.length > 0 || input.wait_seconds === 0) return first
      await waitFor(entry.wake.promise, input.wait_seconds * 1_000, signal)
      speaking(call, input.fence)
      return answer()
    },
    log: async (call, { name, offset, fence }, bytes) => {
      const entry = speaking(call, fence)
      const expected = entry.received.get(name) ?? 0
      if (entry.busy.has(name) || offset !== expected) throw offsetMismatch(expected)
      if (!take(entry, bytes.length))
        throw new ApiError({
          code: 'payload_too_large',
          message: `This job has sent more than ${entry.work.max_push_mb} MB.`,
        })
      entry.busy.add(name)
      try {
        await entry.work.onLog(name, bytes)
        entry.received.set(name, expected + bytes.length)
      } finally {
        entry.busy.delete(name)
      }
    },
    ask: (call, { fence, ask_id, request }) => {
      const entry = speaking(call, fence)
      // Its answer may have been lost.
      if (entry.asked.has(ask_id)) return
      entry.asked.add(ask_id)
      entry.work.onAsk(ask_id, request)
    },
    finish: async (call, input, { signal }) => {
      const { entry, fence } = find(call)
      if (entry.finishedWith !== null && entry.finishedWith === fence && fence === input.fence) return
      speaking(call, input.fence)
      // A repeated call waits for the first.
      entry.finishing ??= afterwards(end(entry, input, signal), () => {
        entry.finishing = null
        return Promise.resolve()
      })
      await entry.finishing
    },
    lose: (runner_id, why) => {
      instances.delete(runner_id)
      for (const entry of entries.values())
        if (entry.work.runner_id === runner_id && entry.lease.state === 'accepted') over(entry, { kind: 'lost', why })
    },
    loseJob: (job_id, why) => {
      const entry = entries.get(job_id)
      instances.delete(job_id)
      if (entry?.lease.state === 'offered') over(entry, { kind: 'unstarted', why })
      else if (entry?.lease.state === 'accepted') over(entry, { kind: 'lost', why })
    },
    sweep: () => {
      // A service that was asleep has heard no one, which is no silence.
      const awake_ms = Math.min(clock.now() - sweptAt, 2 * sweepMs)
      sweptAt = clock.now()
      for (const entry of entries.values()) {
        if (entry.overAt !== null && clock.now() - entry.overAt > keptMs) entries.delete(entry.id)
        if (entry.lease.state !== 'accepted' || entry.finishing !== null) continue
        entry.lease = pass(entry.lease, Math.max(0, awake_ms))
        noteLink(entry)
        if (isLost(entry.lease, limitsOf(entry.work)))
          over(entry, { kind: 'lost', why: 'Its runner was out of contact for too long.' })
      }
    },
    start: () => {
      sweeping = setInterval(jobs.sweep, sweepMs)
    },
    close: () => {
      clearInterval(sweeping)
      for (const entry of entries.values())
        if (entry.lease.state === 'offered') over(entry, { kind: 'withdrawn' })
        else if (entry.lease.state === 'accepted')
          over(entry, { kind: 'lost', why: 'Copse stopped while the agent was working on another machine.' })
    },
    isOf: (job_id, runner_id) => entries.get(job_id)?.work.runner_id === runner_id,
    hasRun: (runner_id, execution_id) =>
      [...entries.values()].some(
        ({ work, lease }) =>
          work.runner_id === runner_id && work.spec.execution?.id === execution_id && lease.state !== 'over',
      ),
    running: (runner_id) =>
      [...entries.values()].filter(
        ({ work, lease }) => work.runner_id === runner_id && work.spec.kind === 'run' && lease.state !== 'over',
      ).length,
    find: async (job_id, token) => {
      const entry = entries.get(job_id)
      const fence = entry?.tokens.get(token)
      if (entry === undefined || fence === undefined) return null
      if (entry.lease.state === 'accepted' && fence === entry.lease.fence && entry.grant !== null)
        return grantOf(entry, 'work', entry.grant.end.signal)
      // Of a job that none has accepted nothing can be late.
      if (entry.hasBroughtLate || entry.lease.instance === null || entry.finishedWith !== null) return null
      return grantOf(entry, 'late', never)
    },
  }
  return jobs

  async function end(entry: Entry, input: JobFinish, signal: AbortSignal): Promise<void> {
    const short = Object.entries(input.logs).filter(([name, size]) => (entry.received.get(name) ?? 0) < size)
    const missing = short.length > 0 ? [] : await entry.work.arrive(input.refs, { signal })
    if (short.length > 0 || missing.length > 0)
      throw new ApiError({
        code: 'not_arrived',
        message: 'Not all of it has arrived. Send what is missing, and finish again.',
        details: {
          logs: Object.fromEntries(short.map(([name]) => [name, entry.received.get(name) ?? 0])),
          refs: missing,
        },
      })
    if (entry.lease.state === 'over') throw leaseLost()
    entry.finishedWith = input.fence
    over(entry, { kind: 'finished', report: input })
  }
}

const never = new AbortController().signal

function grantOf(entry: Entry, access: JobGrant['access'], ended: AbortSignal): JobGrant {
  return {
    job_id: entry.id,
    task_id: entry.work.spec.task_id,
    access,
    ended,
    max_push_mb: entry.work.max_push_mb,
    take: (bytes) => take(entry, bytes),
  }
}

function take(entry: Entry, bytes: number): boolean {
  entry.sent += bytes
  return entry.sent <= entry.work.max_push_mb * 1024 * 1024
}

const limitsOf = ({ grace_ms }: JobWork) => ({ link_ms: silentSeconds * 1_000, grace_ms })

/** Resolves with the promise, after a time, or when the signal aborts. */
async function waitFor(promise: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const done = Promise.withResolvers<void>()
  const timer = setTimeout(done.resolve, ms)
  const leave = (): void => done.resolve()
  signal.addEventListener('abort', leave, { once: true })
  await Promise.race([promise, done.promise])
  clearTimeout(timer)
  signal.removeEventListener('abort', leave)
}
