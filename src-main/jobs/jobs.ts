import type { JobId } from '../../src-shared/contract/ids.ts'
import {
  silentSeconds,
  type JobBeatAnswer,
  type JobFinish,
  type JobInput,
  type JobOffer,
} from '../../src-shared/contract/jobs.ts'
import { afterwards } from '../../src-shared/lang/afterwards.ts'
import type { Clock } from '../ports/clock.ts'
import type { JobQueries, JobRecord } from '../ports/job-queries.ts'
import type { JobSeeker } from '../ports/runner-tokens.ts'
import { entryOf, newEntry, overRecord, recordOf, tokenVariable, type Entry } from './entry.ts'
import type { Job, JobCall, JobEnd, JobOwner, Jobs } from './job.ts'
import { settleOrAbort } from '../platform/locks/settle-or-abort.ts'
import { grantFor, take } from './grants.ts'
import {
  checkProtocol,
  leaseLost,
  noSuchFile,
  noSuchJob,
  notArrived,
  offsetMismatch,
  runnerTaken,
  tooLarge,
} from './job-refusals.ts'
import { accept, endLease, giveOut, isLinkLost, isLost, pass, speak } from './rules/lease.ts'

export type { JobCall, Jobs } from './job.ts'

export const sweepMs = 5_000
const keptMs = 24 * 3_600_000
const deleteEveryMs = 3_600_000

export interface JobsParts {
  readonly clock: Clock
  readonly newId: () => string
  /** A new secret, which no other program can guess. */
  readonly newToken: () => string
  readonly hashToken: (token: string) => string
  readonly records: JobQueries
  /** Called when a job that is over has brought what it had. */
  readonly onLate: (task_id: string) => void
}

export function createJobs({ clock, newId, newToken, hashToken, records, onLate }: JobsParts): Jobs {
  const entries = new Map<string, Entry>()
  let offered = Promise.withResolvers<void>()
  /** The live process of each runner or pod. */
  const instances = new Map<string, { readonly instance: string; seenAt: number }>()
  let sweptAt = clock.now()
  let deletedAt = Number.NEGATIVE_INFINITY
  const closing = new AbortController()
  const started = Promise.withResolvers<void>()
  let sweeping: ReturnType<typeof setInterval> | undefined
  const nowIso = (): string => new Date(clock.now()).toISOString()
  const save = (entry: Entry): void => records.put(recordOf(entry))

  const find = ({ job_id, token }: JobCall): { readonly entry: Entry | JobRecord; readonly fence: number } => {
    const entry = entries.get(job_id) ?? records.get(job_id)
    const fence = token === null ? undefined : new Map(entry?.tokens).get(hashToken(token))
    if (entry === null || fence === undefined) throw noSuchJob()
    return { entry, fence }
  }
  /** Returns the job of a call whose token has this fence. */
  const findLive = (call: JobCall, fence: number): Entry => {
    const { entry, fence: own } = find(call)
    if (own !== fence || !('lease' in entry)) throw leaseLost()
    return entry
  }
  /** Returns the job of a call whose token and fence are the newest. */
  const speaking = (call: JobCall, fence: number): Entry & { readonly owner: JobOwner } => {
    const entry = findLive(call, fence)
    const lease = speak(entry.lease, fence)
    if (lease === 'lease_lost' || !hasOwner(entry)) throw leaseLost()
    entry.lease = lease
    noteLink(entry)
    // It says more than that it takes the job, so it knows all of it.
    if (entry.spec !== null && entry.isBegun) {
      entry.spec = null
      save(entry)
    }
    return entry
  }
  const noteLink = (entry: Entry & { readonly owner: JobOwner }): void => {
    const lost = isLinkLost(entry.lease, limitsOf(entry.owner))
    if (lost === (entry.linkSince !== null)) return
    entry.linkSince = lost ? nowIso() : null
    entry.owner.onLink({ state: lost ? 'lost' : 'connected', since: entry.linkSince ?? nowIso() })
  }
  const over = (entry: Entry, end: JobEnd): void => {
    entry.lease = endLease(entry.lease)
    const { fence } = entry.lease
    if (entry.tokens.size > 0) {
      const ended = { fence, finished_fence: entry.finishedWith, over_at: nowIso() }
      try {
        records.put(overRecord(recordOf(entry), ended))
      } catch {
        // The next service sees that its run has ended.
      }
    }
    entries.delete(entry.id)
    entry.owner = entry.spec = null
    if (!entry.isBegun) entry.untaken = untakenFor(end)
    entry.grantEnd.abort(new Error('The job has ended.'))
    for (const one of [entry.taken, entry.begun, entry.settled, entry.wake]) one.resolve()
    entry.ended.resolve(end)
  }
  const wakeUp = (entry: Entry): void => {
    entry.wake.resolve()
    entry.wake = Promise.withResolvers()
  }
  const giveOutTo = ({ runner_id, job_id }: JobSeeker): readonly JobOffer[] =>
    [...entries.values()].flatMap((entry) => {
      const isFor = entry.runner_id === runner_id && (job_id === null || job_id === entry.id)
      const lease = isFor ? giveOut(entry.lease) : null
      if (lease === null) return []
      entry.lease = lease
      const token = newToken()
      entry.tokens.set(hashToken(token), lease.fence)
      entry.grantEnd.abort(new Error('The job was given out again.'))
      entry.grantEnd = new AbortController()
      return { job_id: entry.id, token, fence: lease.fence }
    })
  /** A new process of a runner has none of the jobs of the one before, but for those that it names. */
  const loseOthers = ({ runner_id, job_id }: JobSeeker, instance: string, kept: readonly JobId[]): void => {
    for (const entry of entries.values()) {
      const { lease } = entry
      const isIts = entry.runner_id === runner_id && (job_id === null || job_id === entry.id)
      if (!isIts || lease.state !== 'accepted' || lease.instance === instance || kept.includes(entry.id)) continue
      if (entry.finishedWith === null) over(entry, { kind: 'lost', why: 'Its runner has ended.' })
    }
  }
  const jobOf = (entry: Entry): Job => ({
    id: entry.id,
    ended: entry.ended.promise,
    taken: entry.taken.promise,
    begin: () => {
      entry.isBegun = true
      entry.begun.resolve()
    },
    settle: () => entry.settled.resolve(),
    input: (input) => {
      const n = entry.lastInput + 1
      const before = entry.inputs
      entry.inputs = [...before, { ...input, n } as JobInput]
      entry.lastInput = n
      try {
        if (entry.lease.state === 'accepted') save(entry)
      } catch (error) {
        entry.inputs = before
        throw error
      }
      wakeUp(entry)
    },
    stop: () => {
      const { state } = entry.lease
      if (state === 'over' || entry.stopping) return
      entry.stopping = true
      if (state === 'offered' || !entry.isBegun) return over(entry, { kind: 'withdrawn' })
      // No one hears its end any more; its runner ends it when it hears of that.
      if (closing.signal.aborted && entry.finishedWith === null) return over(entry, { kind: 'lost', why: closedText })
      wakeUp(entry)
      save(entry)
    },
    isLinkLost: () => entry.linkSince !== null,
    untaken: () => entry.untaken,
  })

  for (const record of records.accepted()) {
    const entry = entryOf(record)
    entries.set(entry.id, entry)
  }

  const jobs: Jobs = {
    offer: (work) => {
      const entry = newEntry(newId() as JobId, work)
      entries.set(entry.id, entry)
      if (closing.signal.aborted) over(entry, { kind: 'withdrawn' })
      offered.resolve()
      offered = Promise.withResolvers()
      return jobOf(entry)
    },
    held: (execution_id) => {
      const entry = [...entries.values()].find((one) => one.execution_id === execution_id && one.owner === null)
      if (entry === undefined) return null
      const sizes = Object.fromEntries([...entry.marks].map(([name, { size }]) => [name, size]))
      return { job_id: entry.id, execution_id, ground: entry.ground, sizes }
    },
    takeUp: ({ job_id }, owner) => {
      const entry = entries.get(job_id)
      if (entry === undefined) throw new Error(`The job ${job_id} is over.`)
      entry.owner = owner
      entry.taken.resolve()
      entry.begun.resolve()
      if (hasOwner(entry)) noteLink(entry)
      return jobOf(entry)
    },
    next: async (seeker, { instance, protocol, wait_seconds, jobs: kept }, { signal }) => {
      checkProtocol(protocol)
      const who = seeker.job_id ?? seeker.runner_id
      const known = instances.get(who)
      if (known !== undefined && known.instance !== instance && clock.now() - known.seenAt < silentSeconds * 1_000)
        throw runnerTaken()
      const seen = { instance, seenAt: clock.now() }
      instances.set(who, seen)
      loseOthers(seeker, instance, kept)
      const found = giveOutTo(seeker)
      if (found.length > 0 || wait_seconds === 0) return found
      const end = clock.now() + wait_seconds * 1_000
      const stopped = AbortSignal.any([signal, closing.signal])
      for (let left = wait_seconds * 1_000; left > 0 && !stopped.aborted; left = end - clock.now()) {
        await settleOrAbort(offered.promise, AbortSignal.any([stopped, AbortSignal.timeout(left)]))
        seen.seenAt = clock.now()
        const given = stopped.aborted ? [] : giveOutTo(seeker)
        if (given.length > 0) return given
      }
      return []
    },
    accept: async (call, { fence, instance, protocol }, { signal }) => {
      checkProtocol(protocol)
      const entry = findLive(call, fence)
      const lease = accept(entry.lease, { fence, instance })
      if (lease === 'lease_lost') throw leaseLost()
      const before = entry.lease
      entry.lease = lease
      try {
        save(entry)
      } catch (error) {
        entry.lease = before
        throw error
      }
      if (before.state === 'offered') entry.owner?.onLink({ state: 'connected', since: nowIso() })
      entry.taken.resolve()
      // Whatever the runner does from now on is done by a run that the service knows of.
      await settleOrAbort(entry.begun.promise, signal)
      signal.throwIfAborted()
      const { spec, owner } = entry
      if (spec === null || owner === null) throw leaseLost()
      if (spec.execution === null || tokenVariable in spec.env || !owner.newRunToken) return { ...spec, job: entry.id }
      return { ...spec, job: entry.id, env: { ...spec.env, [tokenVariable]: await owner.newRunToken() } }
    },
    file: async (call, n, fence) => {
      const bytes = await speaking(call, fence).owner.file(n)
      if (bytes === null) throw noSuchFile()
      return bytes
    },
    beat: async (call, input, { signal }) => {
      const entry = speaking(call, input.fence)
      if (entry.inputs.some(({ n }) => n <= input.seen)) {
        entry.inputs = entry.inputs.filter(({ n }) => n > input.seen)
        save(entry)
      }
      const answer = (): JobBeatAnswer => ({
        action: entry.stopping ? 'stop' : 'continue',
        inputs: [...entry.inputs],
      })
      const first = answer()
      if (first.action === 'stop' || first.inputs.length > 0 || input.wait_seconds === 0) return first
      const limit = AbortSignal.timeout(input.wait_seconds * 1_000)
      await settleOrAbort(entry.wake.promise, AbortSignal.any([signal, limit, closing.signal]))
      speaking(call, input.fence)
      return answer()
    },
    log: async (call, { name, offset, fence }, bytes) => {
      const entry = speaking(call, fence)
      const expected = entry.received.get(name) ?? 0
      if (entry.busy.has(name) || offset !== expected) throw offsetMismatch(expected)
      if (!take(entry, bytes.length)) throw tooLarge(entry.owner.max_push_mb)
      entry.busy.add(name)
      try {
        const kept = await entry.owner.onLog(name, bytes)
        const offset_now = expected + bytes.length
        entry.received.set(name, offset_now)
        if (kept === null || entry.lease.state === 'over') return
        entry.marks.set(name, { offset: offset_now - kept.held, size: kept.size })
        save(entry)
      } finally {
        entry.busy.delete(name)
      }
    },
    ask: (call, { fence, ask_id, request }) => {
      const entry = speaking(call, fence)
      // Its answer may have been lost, or be on its way.
      if (entry.asked.has(ask_id) || entry.inputs.some((one) => one.kind === 'answer' && one.ask_id === ask_id)) return
      entry.asked.add(ask_id)
      entry.owner.onAsk(ask_id, request)
    },
    finish: async (call, input, { signal }) => {
      const { entry, fence } = find(call)
      if ('state' in entry && entry.finished_fence === fence && fence === input.fence) return
      const live = speaking(call, input.fence)
      // A repeated call waits for the first.
      live.finishing ??= afterwards(finish(live, input, signal), () => {
        live.finishing = null
        return Promise.resolve()
      })
      await live.finishing
    },
    lose: (runner_id, why) => {
      instances.delete(runner_id)
      for (const entry of entries.values())
        if (entry.runner_id === runner_id && entry.finishedWith === null) over(entry, endFor(entry, why))
    },
    loseJob: (job_id, why) => {
      const entry = entries.get(job_id)
      instances.delete(job_id)
      if (entry?.lease.state === 'offered') over(entry, { kind: 'unstarted', why })
      else if (entry?.lease.state === 'accepted' && entry.finishedWith === null) over(entry, { kind: 'lost', why })
    },
    unreached: (job_id, why) => {
      const entry = entries.get(job_id)
      if (entry?.lease.state === 'offered') over(entry, { kind: 'unreached', why })
    },
    unlinked: ({ runner_id, job_id }) => void instances.delete(job_id ?? runner_id),
    sweep: () => {
      // A service that was asleep has heard no one, which is no silence.
      const awake_ms = Math.min(clock.now() - sweptAt, 2 * sweepMs)
      sweptAt = clock.now()
      for (const entry of entries.values()) {
        const isCounted = entry.lease.state === 'accepted' || entry.needsContact
        if (!hasOwner(entry) || !isCounted || entry.finishing !== null) continue
        entry.lease = pass(entry.lease, Math.max(0, awake_ms))
        noteLink(entry)
        if (isLost(entry.lease, limitsOf(entry.owner))) over(entry, endFor(entry, silentText))
      }
      if (clock.now() - deletedAt < deleteEveryMs) return
      deletedAt = clock.now()
      records.deleteOver(new Date(clock.now() - keptMs).toISOString())
    },
    started: started.promise,
    start: () => {
      started.resolve()
      for (const entry of entries.values())
        if (entry.owner === null) over(entry, { kind: 'lost', why: 'Its run has ended.' })
      sweptAt = clock.now()
      sweeping = setInterval(() => {
        try {
          jobs.sweep()
        } catch {
          // The database can’t be written now: the next sweep tries again.
        }
      }, sweepMs)
    },
    close: () => {
      // Runners that wait for something needn’t any longer.
      closing.abort()
      clearInterval(sweeping)
      for (const entry of entries.values()) {
        const isLeft = entry.kind === 'run' && !entry.stopping
        if (entry.lease.state === 'offered') over(entry, { kind: 'withdrawn' })
        else if (!isLeft && entry.finishedWith === null) over(entry, { kind: 'lost', why: closedText })
      }
    },
    isOpen: (job_id) => entries.has(job_id),
    isOf: (job_id, runner_id) => (entries.get(job_id) ?? records.get(job_id))?.runner_id === runner_id,
    hasRun: (runner_id, execution_id) =>
      [...entries.values()].some((entry) => entry.runner_id === runner_id && entry.execution_id === execution_id),
    running: (runner_id) =>
      [...entries.values()].filter((entry) => entry.runner_id === runner_id && entry.kind === 'run').length,
    find: async (job_id, token) => {
      const entry = entries.get(job_id) ?? records.get(job_id)
      const fence = new Map(entry?.tokens).get(hashToken(token))
      return entry === null || fence === undefined ? null : grantFor(entry, fence, () => onLate(entry.task_id))
    },
  }
  return jobs

  async function finish(entry: Entry & { readonly owner: JobOwner }, input: JobFinish, signal: AbortSignal) {
    const short = Object.entries(input.logs).filter(([name, size]) => (entry.received.get(name) ?? 0) < size)
    const missing = short.length > 0 ? [] : await entry.owner.arrive(input, { signal })
    if (short.length > 0 || missing.length > 0)
      throw notArrived(Object.fromEntries(short.map(([name]) => [name, entry.received.get(name) ?? 0])), missing)
    if (entry.lease.state === 'over') throw leaseLost()
    entry.finishedWith = input.fence
    entry.grantEnd.abort(new Error('The job has ended.'))
    entry.ended.resolve({ kind: 'finished', report: input })
    // The runner keeps its word, which it repeats to the next service, until the run’s end is saved here.
    await entry.settled.promise
    over(entry, { kind: 'finished', report: input })
  }
}

const silentText = 'Its runner was out of contact for too long.'
const closedText = 'Copse stopped while it was ended on another machine.'

const hasOwner = (entry: Entry): entry is Entry & { readonly owner: JobOwner } => entry.owner !== null

/** Returns how a job ends whose runner is gone. */
const endFor = ({ lease }: Entry, why: string): JobEnd =>
  lease.state === 'offered' ? { kind: 'unreached', why } : { kind: 'lost', why }

const untakenFor = (end: JobEnd): string | null =>
  end.kind === 'unreached' ? end.why : end.kind === 'withdrawn' ? 'Copse was stopped.' : null

const limitsOf = ({ grace_ms }: JobOwner) => ({ link_ms: silentSeconds * 1_000, grace_ms })
