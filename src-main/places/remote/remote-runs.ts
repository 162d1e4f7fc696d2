import { eventsLog, rawLog, type JobEvent } from '../../../src-shared/contract/job-events.ts'
import type { ExecutorProfile } from '../../../src-shared/contract/executor-profiles.ts'
import type { JobSpec } from '../../../src-shared/contract/jobs.ts'
import { BugError } from '../../../src-shared/lang/bug-error.ts'
import type { JobEnd, JobWork } from '../../jobs/job.ts'
import {
  ExecutorError,
  type AgentRequest,
  type ExecutionOutcome,
  type ExecutionRun,
  type Executors,
  type HeldExecution,
  type RunningExecution,
} from '../../ports/executors.ts'
import type { Place } from '../../ports/place.ts'
import { RunnerUnreachableError } from '../../ports/runner-kinds.ts'
import { createEventReader } from './read-events.ts'
import type { StartedJob, StartJob } from './start-job.ts'

/** Runs agents on a runner, as jobs. */
export function createRemoteRuns(
  here: Executors,
  startJob: StartJob,
  levelThere: Place['containment']['effectiveLevel'],
): Executors {
  return {
    location: (profile) => here.location(profile),
    refusedArgs: (profile, config) => here.refusedArgs(profile, config),
    // What is installed there is looked at by the runner's check.
    detect: () => Promise.resolve([]),
    inspect: (profile, config, options) => here.inspect(profile, config, options),
    // A job ends with its lease.
    reap: () => Promise.resolve(),
    held: (execution_id) => {
      const { sizes = null } = startJob.held(execution_id) ?? {}
      return sizes && { transcript: sizes[eventsLog] ?? 0, raw: sizes[rawLog] ?? 0 }
    },
    takeUp: (run) => {
      const held = startJob.held(run.execution_id)
      if (held === null) throw new BugError(`No runner has the run ${run.execution_id}.`)
      const { listener, running } = listenFor(run)
      return running(startJob.takeUp(held, { ...listener, newRunToken: run.newToken }))
    },
    start: async (profile, run, { signal }) => {
      signal.throwIfAborted()
      const { listener, running } = listenFor(run)
      const started = await startJob.start({
        ...listener,
        kind: 'run',
        cwd: run.cwd,
        spec: specOf(profile, {
          ...run,
          config: { ...run.config, containment: levelThere(run.config.containment ?? 'none') },
        }),
        files: [run.env['SVC_KNOWLEDGE_FILE'] ?? ''].filter((path) => path !== ''),
      })
      const process = running(started)
      const stopIt = (): void => started.stop()
      signal.addEventListener('abort', stopIt, { once: true })
      if (signal.aborted) stopIt()
      await started.taken
      signal.removeEventListener('abort', stopIt)
      // Out of reach, stopped, or left to the next service as what was never on offer.
      const untaken = started.untaken()
      if (untaken !== null) throw new RunnerUnreachableError(untaken)
      return process
    },
  }
}

type Hearer = Omit<HeldExecution, 'newToken' | 'task_id' | 'execution_id'>

/** Returns what hears of a run's job, and the run that the job is. */
function listenFor(run: Hearer) {
  const asks = new AbortController()
  let job: StartedJob | null = null
  let onLost = (): void => undefined
  const events = createEventReader((event) => takeEvent(run, event))
  const listener: Pick<JobWork, 'onLog' | 'onAsk' | 'onLink'> = {
    onLog: async (name, bytes) => {
      if (name === eventsLog) events.push(bytes)
      else if (name === rawLog) await run.log.raw(bytes)
      else return null
      // A log that can't be written is no reason to end the run.
      const saved = await run.log.saved?.().catch(() => undefined)
      if (saved === undefined) return null
      return name === eventsLog
        ? { held: events.heldBytes(), size: saved.transcript }
        : { held: saved.held, size: saved.raw }
    },
    onLink: (link) => {
      if (link.state === 'lost') onLost()
      run.onLink?.(link)
    },
    onAsk: (ask_id, request) => {
      const asked = run.ask?.(request as AgentRequest, { signal: asks.signal }) ?? Promise.resolve(null)
      // One that is left with its run is asked again by the next service.
      void asked.then((answer) => asks.signal.aborted || job?.input({ kind: 'answer', ask_id, answer }))
    },
  }
  const running = (started: StartedJob): RunningExecution => {
    job = started
    const given = Promise.withResolvers<ExecutionOutcome>()
    void started.ended.then((end) => given.resolve(outcomeOf(end)))
    const outcome = given.promise.then((end) => {
      asks.abort()
      return end
    })
    return {
      process: null,
      outcome,
      begin: () => started.begin(),
      settle: () => started.settle(),
      leave: async () => {
        asks.abort()
        await started.leave()
      },
      input: async (data) => {
        if (started.isOver()) throw new ExecutorError('input_closed', 'The agent has ended.')
        started.input({ kind: 'keys', data })
      },
      resize: (cols, rows) => started.input({ kind: 'size', cols, rows }),
      stop: async () => {
        started.stop()
        // Processes there end once the runner hears of it.
        onLost = () => given.resolve({ ...none, ended: 'stopped' })
        if (started.isLinkLost()) onLost()
        await outcome
      },
    }
  }
  return { listener, running }
}

function specOf(
  profile: ExecutorProfile,
  run: ExecutionRun,
): Pick<JobSpec, 'execution' | 'agent' | 'prompt' | 'env' | 'session_id' | 'steps' | 'containment'> {
  return {
    execution: { id: run.execution_id, timeout_seconds: run.timeout_seconds },
    agent: {
      id: run.agent_id ?? null,
      executor: profile,
      config: run.config,
      ...(run.own_command !== undefined && { own_command: run.own_command }),
      images: (run.images ?? []).map((image) => ({ ...image })),
      session_usage: run.session_usage ?? null,
      can_ask: run.ask !== undefined,
      has_mcp: run.mcp !== null,
    },
    prompt: run.prompt,
    env: { ...run.env },
    session_id: run.session_id,
    steps: [],
    containment: null,
  }
}

function takeEvent(run: Hearer, event: JobEvent): void {
  switch (event.type) {
    case 'entry':
      run.log.entry(event.entry)
      break
    case 'session':
      run.onSession?.(event.session_id)
      break
    case 'answer':
      run.onAnswer?.(event.answer)
      break
    case 'host_allowed':
      run.onHostAllowed?.(event.host)
      break
    case 'output':
      run.log.entry({
        type: 'stderr',
        at: new Date().toISOString(),
        text: Buffer.from(event.data, 'base64').toString('utf8'),
      })
      break
    case 'step':
      break
  }
}

const none: Omit<ExecutionOutcome, 'ended'> = {
  exit_code: null,
  session_id: null,
  usage: null,
  conclusion: 'done',
  message: null,
}

function outcomeOf(end: JobEnd): ExecutionOutcome {
  if (end.kind === 'withdrawn') return { ...none, ended: 'stopped' }
  if (end.kind === 'unstarted' || end.kind === 'unreached')
    return { ...none, ended: 'failed_to_start', message: end.why }
  if (end.kind === 'lost')
    return { ...none, ended: 'lost', message: `${end.why} Its work is kept as far as it arrived. Resume to continue.` }
  const { status, exit_code, session_id, usage, message, outcome } = end.report
  if (outcome === null)
    return {
      ...none,
      ended: status === 'stopped' ? 'stopped' : 'failed_to_start',
      exit_code,
      session_id,
      usage,
      message,
    }
  const { usage_limit, unasked, windows, ...rest } = outcome
  const { resets_at = null, account } = usage_limit ?? {}
  return {
    ...rest,
    exit_code,
    session_id,
    usage,
    message,
    ...(usage_limit && { usage_limit: { resets_at, ...(account !== undefined && { account }) } }),
    ...(unasked && { unasked }),
    ...(windows && { windows }),
  }
}
