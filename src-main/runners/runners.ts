import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { DaemonId, RunnerId } from '../../src-shared/contract/ids.ts'
import type { JobOffer, JobReport } from '../../src-shared/contract/jobs.ts'
import { hereRunner, type RunnerCheckStep } from '../../src-shared/contract/runners.ts'
import { afterwards } from '../../src-shared/lang/afterwards.ts'
import { invalidInput, notFound } from '../domain/refusal.ts'
import type { Ground } from '../core/ground.ts'
import { daemonRunner, saveRunner } from '../core/runner-records.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { DaemonRecord } from '../ports/agent-queries.ts'
import type { RunnerKinds } from '../ports/runner-kinds.ts'
import type { RunnerQueries, RunnerRecord, TrustedContent } from '../ports/runner-queries.ts'
import { adoptDaemon } from './daemon-runner.ts'
import { namedRefusal, runningRefusal } from './runner-use.ts'
import type { ProjectQueries } from '../ports/project-queries.ts'

type NewRunner = Pick<RunnerRecord, 'name' | 'kind' | 'config' | 'projects' | 'capacity' | 'grace_seconds'>

type TrustRecord = TrustedContent & { readonly trusted_by: string; readonly created_at: string }

interface CheckedRunner {
  readonly runner: RunnerRecord
  readonly steps: readonly RunnerCheckStep[]
}

/** The runners besides this machine: an admin's changes to them, and whether they are ready. */
export interface Runners {
  /** Adds a runner and begins to check it. */
  create(runner: NewRunner): RunnerRecord | Refusal
  /** Changes a runner; with another configuration it is checked again. */
  update(id: RunnerId, change: Partial<Omit<NewRunner, 'kind'>>): RunnerRecord | Refusal
  remove(id: RunnerId): Refusal | null
  /** Looks whether runs can start there, and saves whether it is ready. A check that runs already is joined. */
  check(id: RunnerId): Promise<CheckedRunner | Refusal>
  /**
   * A machine that connects from its side asks for jobs, and is a runner from its first report on. Throws `ApiError` with
   * what it is told.
   */
  report(daemon: DaemonRecord, told: DaemonReport, options: Cancellable): Promise<readonly JobOffer[]>
  /** The token of such a machine no longer counts: its jobs are lost. */
  revoke(daemon_id: DaemonId): void
  /** Notes what an admin lets the dev containers of a project reach on a runner's machine. */
  trust(content: TrustedContent, trusted_by: string): TrustRecord | Refusal
  /** Notes that a run could not start there. */
  markUnreachable(id: RunnerId, message: string): void
  /** Checks now and then those that are not ready. */
  start(): void
  /** Resolves when no check runs any longer. */
  close(): Promise<void>
}

interface DaemonReport extends JobReport {
  /** How many runs it takes at a time; undefined: as many as before. */
  readonly capacity: number | undefined
}

interface RunnersDeps {
  readonly context: Ground & { readonly runnerKinds: RunnerKinds }
  /** How many runs a runner has, those that are just starting included. */
  readonly runsOn: (id: RunnerId) => number
  /** Called when runs may be able to start that waited for a runner. */
  readonly onChanged: () => void
}

const checkEveryMs = 60_000
/** How often it is looked whether machines that connect from their side still do. */
const listenEveryMs = 10_000
/** An engine that does not answer is no better than one that is not there. */
const checkLimitMs = 120_000

export function createRunners({ context, runsOn, onChanged }: RunnersDeps): Runners {
  const { store, feed, runnerKinds } = context
  const closing = new AbortController()
  const checks = new Map<RunnerId, Promise<CheckedRunner | Refusal>>()
  const timers: NodeJS.Timeout[] = []

  const check: Runners['check'] = (id) => {
    const known = checks.get(id)
    if (known) return known
    const running = look(id).finally(() => checks.delete(id))
    checks.set(id, running)
    return running
  }
  const look = async (id: RunnerId): Promise<CheckedRunner | Refusal> => {
    const asked = store.read.runners.get(id)
    if (!asked) return notFound('runner')
    const steps = await stepsOf(asked)
    const runner = feed.commit((tx) => {
      const now = tx.runners.get(id)
      // What was looked at is not what there is now: its own check follows.
      if (!now || JSON.stringify(now.config) !== JSON.stringify(asked.config)) return now
      const failed = steps.find(({ ok }) => !ok)
      const last_error = failed ? [failed.message, failed.fix].filter((text) => text !== null).join(' ') : null
      const state = failed ? (failed.name === 'version' ? 'outdated' : 'unreachable') : 'ready'
      const checked: RunnerRecord = { ...now, state, last_error }
      if (id !== hereRunner && (checked.state !== now.state || checked.last_error !== now.last_error))
        saveRunner(tx, checked)
      return checked
    })
    if (!runner) return notFound('runner')
    if (runner.state === 'unchecked') return await look(id)
    onChanged()
    return { runner, steps }
  }
  const stepsOf = async (runner: RunnerRecord): Promise<readonly RunnerCheckStep[]> => {
    const limit = AbortSignal.timeout(checkLimitMs)
    try {
      return await runnerKinds.check(runner, { signal: AbortSignal.any([closing.signal, limit]) })
    } catch (error) {
      closing.signal.throwIfAborted()
      if (!limit.aborted) context.log.error({ err: error, runner_id: runner.id }, 'a runner could not be checked')
      const message = limit.aborted
        ? `The runner has not answered for ${checkLimitMs / 1_000} seconds.`
        : 'The check failed. The Copse log has details.'
      return [{ name: 'reach', ok: false, message, fix: null }]
    }
  }
  const checkBeside = (id: RunnerId): void => {
    check(id).catch((error: unknown) => {
      if (!closing.signal.aborted) context.log.error({ err: error, runner_id: id }, 'the check of a runner broke')
    })
  }
  /** Ends what is left there, as far as it can be reached. */
  const endBeside = (runner: RunnerRecord): void => {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(checkLimitMs)])
    runnerKinds.end(runner, { signal }).catch((error: unknown) => {
      context.log.warn({ err: error, runner_id: runner.id }, 'what a removed runner has left could not be ended')
    })
  }
  return {
    check,
    create: (fields) => {
      const created = feed.commit((tx): RunnerRecord | Refusal => {
        const refusal = nameRefusal(tx, fields.name, null) ?? projectRefusal(tx, fields.projects)
        if (refusal) return refusal
        const id = context.newId() as RunnerId
        const record: RunnerRecord = { ...fields, id, state: 'unchecked', last_error: null, created_at: tx.now() }
        saveRunner(tx, record)
        return record
      })
      if (!('code' in created)) checkBeside(created.id)
      return created
    },
    update: (id, change) => {
      const updated = feed.commit((tx): RunnerRecord | Refusal => {
        const before = tx.runners.get(id)
        if (!before) return notFound('runner')
        if (id === hereRunner) return fixed
        const isOther = change.config !== undefined && JSON.stringify(change.config) !== JSON.stringify(before.config)
        const refusal =
          (change.name === undefined ? null : nameRefusal(tx, change.name, id)) ??
          (change.projects === undefined ? null : projectRefusal(tx, change.projects)) ??
          (isOther ? runningRefusal(runsOn(id)) : null)
        if (refusal) return refusal
        const record = { ...before, ...change, ...(isOther && { state: 'unchecked' as const, last_error: null }) }
        saveRunner(tx, record)
        return record
      })
      if ('code' in updated) return updated
      if (updated.state === 'unchecked') checkBeside(id)
      // There may be more room now.
      onChanged()
      return updated
    },
    remove: (id) => {
      const removed = store.read.runners.get(id)
      const refusal = feed.commit((tx) => {
        if (!tx.runners.get(id)) return notFound('runner')
        if (id === hereRunner) return fixed
        const refusal = runningRefusal(runsOn(id)) ?? namedRefusal(tx, id)
        if (refusal) return refusal
        tx.workspaces.passOn(id, hereRunner)
        tx.runners.delete(id)
        tx.emit('runner.updated', { project_id: null, runner_id: id, runner: null })
        return null
      })
      if (refusal === null && removed) endBeside(removed)
      return refusal
    },
    report: async (daemon, { capacity, ...told }, options) => {
      const { id } = feed.commit((tx) => adoptDaemon(tx, daemon, capacity))
      const ask = (wait_seconds: number) => runnerKinds.offers(id, { ...told, wait_seconds }, options)
      const first = await afterwards(ask(0), () => {
        if (store.read.runners.get(id)?.state !== 'ready') checkBeside(id)
        return Promise.resolve()
      })
      return first.length > 0 || told.wait_seconds === 0 ? first : await ask(told.wait_seconds)
    },
    revoke: (daemon_id) => {
      const id = daemonRunner(daemon_id)
      if (store.read.runners.get(id) === null) return
      runnerKinds.lose(id, 'The token of its machine was revoked.')
      checkBeside(id)
    },
    trust: ({ runner_id, project_id, sha256 }, trusted_by) =>
      feed.commit((tx): TrustRecord | Refusal => {
        const runner = tx.runners.get(runner_id)
        if (!runner) return notFound('runner')
        if (tx.projects.get(project_id) === null) return notFound('project')
        const record = { runner_id, project_id, sha256, trusted_by, created_at: tx.now() }
        tx.runner_trust.put(record)
        context.log.info({ runner: runner.name, project_id, sha256, trusted_by }, 'a dev container is trusted')
        return record
      }),
    markUnreachable: (id, message) => {
      feed.commit((tx) => {
        const known = tx.runners.get(id)
        if (known && id !== hereRunner) saveRunner(tx, { ...known, state: 'unreachable', last_error: message })
      })
    },
    start: () => {
      const checkAll = (isFirst: boolean) => {
        for (const { id, state } of store.read.runners.list()) {
          // What was ready may have been ended since the service was.
          if (id !== hereRunner && (isFirst || state !== 'ready')) checkBeside(id)
        }
      }
      checkAll(true)
      runnerKinds.listen((id) => {
        // A run waits for it, which could not start there a moment ago.
        if (store.read.runners.get(id)?.state === 'unreachable') checkBeside(id)
      })
      const listen = () => {
        for (const { id, kind, state } of store.read.runners.list())
          if (kind === 'daemon' && state === 'ready') checkBeside(id)
      }
      timers.push(setInterval(checkAll, checkEveryMs, false), setInterval(listen, listenEveryMs))
      for (const timer of timers) timer.unref()
    },
    close: async () => {
      for (const timer of timers) clearInterval(timer)
      closing.abort(new Error('The service is stopping.'))
      await Promise.allSettled(checks.values())
    },
  }
}

const fixed = invalidInput('runner_id', 'This machine is always there as it is. Choose another runner.')

function nameRefusal(q: { readonly runners: RunnerQueries }, name: string, own: RunnerId | null): Refusal | null {
  const lower = name.toLowerCase()
  const isTaken = q.runners.list().some((one) => one.id !== own && [one.id, one.name.toLowerCase()].includes(lower))
  return isTaken ? invalidInput('name', 'Another runner has this name.') : null
}

function projectRefusal(q: { readonly projects: ProjectQueries }, projects: RunnerRecord['projects']): Refusal | null {
  return (projects ?? []).every((id) => q.projects.get(id) !== null) ? null : notFound('project')
}
