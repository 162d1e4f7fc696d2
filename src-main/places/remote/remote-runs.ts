import { eventsLog, rawLog, type JobEvent } from '../../../src-shared/contract/job-events.ts'
import type { ExecutorProfile } from '../../../src-shared/contract/executor-profiles.ts'
import type { JobSpec } from '../../../src-shared/contract/jobs.ts'
import type { JobEnd } from '../../jobs/job.ts'
import {
  ExecutorError,
  type AgentRequest,
  type ExecutionOutcome,
  type ExecutionRun,
  type Executors,
  type RunningExecution,
} from '../../ports/executors.ts'
import { createEventReader } from './read-events.ts'
import type { StartedJob, StartJob } from './start-job.ts'

/** Runs agents on a runner, as jobs. */
export function createRemoteRuns(here: Executors, startJob: StartJob): Executors {
  return {
    location: (profile) => here.location(profile),
    refusedArgs: (profile, config) => here.refusedArgs(profile, config),
    // What is installed there is looked at by the runner's check.
    detect: () => Promise.resolve([]),
    inspect: (profile, config, options) => here.inspect(profile, config, options),
    // A job ends with its lease.
    reap: () => Promise.resolve(),
    start: async (profile, run, { signal }) => {
      signal.throwIfAborted()
      const asks = new AbortController()
      let job: StartedJob | null = null
      const readEvents = createEventReader((event) => takeEvent(run, event))
      job = await startJob({
        kind: 'run',
        cwd: run.cwd,
        spec: specOf(profile, run),
        files: [run.env['SVC_KNOWLEDGE_FILE'] ?? ''].filter((path) => path !== ''),
        onLog: async (name, bytes) => {
          if (name === eventsLog) readEvents(bytes)
          if (name === rawLog) await run.log.raw(bytes)
        },
        onLink: (link) => run.onLink?.(link),
        onAsk: (ask_id, request) => {
          const asked = run.ask?.(request as AgentRequest, { signal: asks.signal }) ?? Promise.resolve(null)
          void asked.then((answer) => job?.input({ kind: 'answer', ask_id, answer }))
        },
      })
      const started = job
      const stopIt = (): void => started.stop()
      signal.addEventListener('abort', stopIt, { once: true })
      await started.taken
      signal.removeEventListener('abort', stopIt)
      const given = Promise.withResolvers<ExecutionOutcome>()
      void started.ended.then((end) => given.resolve(outcomeOf(end)))
      const outcome = given.promise.then((end) => {
        asks.abort()
        return end
      })
      const running: RunningExecution = {
        process: null,
        outcome,
        input: async (data) => {
          if (started.isOver()) throw new ExecutorError('input_closed', 'The agent has ended.')
          started.input({ kind: 'keys', data })
        },
        resize: (cols, rows) => started.input({ kind: 'size', cols, rows }),
        stop: async () => {
          started.stop()
          // Processes there end once the runner hears of it.
          if (started.isLinkLost()) given.resolve({ ...none, ended: 'stopped' })
          await outcome
        },
      }
      return running
    },
  }
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

function takeEvent(run: ExecutionRun, event: JobEvent): void {
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
  if (end.kind === 'unstarted') return { ...none, ended: 'failed_to_start', message: end.why }
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
