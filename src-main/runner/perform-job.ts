import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { eventsLog, rawLog, type JobEvent } from '../../src-shared/contract/job-events.ts'
import { JobOutcome, jobProtocol, type JobInput, type JobOffer, type JobSpec } from '../../src-shared/contract/jobs.ts'
import { fetchTask, isAt, placeWorktree, taskClone, type TaskClone } from '../git/sending/task-clone.ts'
import type { AgentRequestAnswer, ExecutionRun } from '../ports/executors.ts'
import type { ContainmentRules } from '../ports/containment.ts'
import { failed } from './failed.ts'
import { finishJob } from './finish-job.ts'
import { startBeats } from './job-beats.ts'
import type { JobParts } from './job-parts.ts'
import { jobFolder, keepEnding, keepJob, taskFolder, type Ending } from './job-folder.ts'
import { bringLfs } from './lfs-objects.ts'
import { pushEverything, startWorkSender } from './send-work.ts'
import { openSentLog, type SentLog } from './sent-log.ts'
import { isLeaseLost, type JobCalls } from './service-calls.ts'
import { untilHeard } from './until-heard.ts'

/** Does a job from its acceptance to the service's word that all of it has arrived. Never rejects. */
export async function performJob(offer: JobOffer, parts: JobParts, stopped: AbortSignal): Promise<void> {
  const { service, log } = parts
  const calls = service.job(offer)
  let isTaken = false
  try {
    const { fence } = offer
    const accept = { fence, instance: parts.instance, protocol: jobProtocol }
    const spec = await untilHeard(() => calls.accept(accept, { signal: stopped }), stopped)
    isTaken = true
    await new JobRun(offer, spec, calls, parts, stopped).perform()
  } catch (error) {
    log.warn({ err: error, job: offer.job_id }, isLeaseLost(error) ? 'a job was lost' : 'a job could not be done')
    if (!isTaken || isLeaseLost(error) || stopped.aborted) return
    const end = { fence: offer.fence, ...failed(error), logs: {}, refs: {}, left_there: [] }
    await untilHeard(() => calls.finish(end, { signal: stopped }), stopped).catch(() => undefined)
  }
}

/** One accepted job. */
class JobRun {
  readonly #offer: JobOffer
  readonly #spec: JobSpec
  readonly #calls: JobCalls
  readonly #parts: JobParts
  readonly #folder: string
  readonly #clone: TaskClone
  readonly #cwd: string
  /** Aborts when the job must end: by the service's word, or since it is lost. */
  readonly #stop = new AbortController()
  /** Aborts when nothing more is sent. */
  readonly #over = new AbortController()
  #onInput: (input: JobInput) => void = () => undefined
  readonly #early: JobInput[] = []
  /** The runner ends. */
  readonly #stopped: AbortSignal
  #isLost = false
  /** The next runner of this folder sends what this one could not. */
  #isKept = false

  constructor(offer: JobOffer, spec: JobSpec, calls: JobCalls, parts: JobParts, stopped: AbortSignal) {
    this.#offer = offer
    this.#spec = spec
    this.#calls = calls
    this.#parts = parts
    this.#folder = jobFolder(parts.own, spec.job)
    this.#clone = taskClone(taskFolder(parts.folder, spec.task_id))
    this.#cwd = this.#clone.worktree
    this.#stopped = stopped
    stopped.addEventListener('abort', () => this.#lose(), { once: true })
  }

  async perform(): Promise<void> {
    const { fence } = this.#offer
    const { job, execution } = this.#spec
    using _ = this.#parts.ports?.watch({ job, execution_id: execution?.id ?? null })
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await keepJob(this.#folder, this.#kept())
    const beats = startBeats(this.#calls, fence, {
      onInput: (input) => this.#take(input),
      onStop: () => this.#stop.abort(),
      onBack: () => this.#askAgain(),
      onLost: () => this.#lose(),
    })
    const logs = await Promise.all([eventsLog, rawLog].map((name) => this.#openLog(name)))
    const [events, raw] = logs
    try {
      if (events === undefined || raw === undefined) return
      const { task_id } = this.#spec
      await this.#parts.locks.run(task_id, async () => {
        await this.#parts.others?.untilFree(task_id, { signal: this.#stop.signal })
        await this.#work(events, raw)
      })
    } finally {
      this.#over.abort()
      await beats.end()
      await Promise.all(logs.map((log) => log.close()))
      // A folder of no task is of this job alone, its clone too.
      if (!this.#spec.repository.is_task)
        await rm(taskFolder(this.#parts.folder, this.#spec.task_id), { recursive: true, force: true })
      if (!this.#isKept) await rm(this.#folder, { recursive: true, force: true })
    }
  }

  #kept() {
    const { job, task_id, execution, repository } = this.#spec
    const { branch, is_task } = repository
    const execution_id = execution?.id ?? null
    return { offer: this.#offer, job, task_id, execution_id, branch, is_task, max_file_bytes: this.#maxFileBytes() }
  }

  #maxFileBytes(): number {
    return this.#spec.limits.max_snapshot_file_mb * 1024 * 1024
  }

  /** Does the work and finishes the job, with all that it has made sent before. */
  async #work(events: SentLog, raw: SentLog): Promise<void> {
    const tell = (event: JobEvent): void => events.write(`${JSON.stringify(event)}\n`)
    let ending: Ending
    let sender: ReturnType<typeof startWorkSender> | null = null
    try {
      const isNew = await this.#prepare()
      if (this.#spec.repository.is_task && this.#spec.kind === 'run') sender = this.#startSender()
      const setUp = isNew ? await this.#setUp(tell) : null
      ending = setUp ?? (this.#spec.kind === 'run' ? await this.#runAgent(tell, raw) : await this.#runSteps(tell))
      if (this.#spec.repository.is_task) sender ??= this.#startSender()
    } catch (error) {
      if (isLeaseLost(error)) throw error
      ending = failed(error)
    }
    const { late } = this.#parts
    if (this.#isLost) {
      const limit = AbortSignal.any([AbortSignal.timeout(lateMs), late])
      return await this.#orKept(sender?.sendLate({ signal: limit }))
    }
    // Should this process end now, the next one finishes the job.
    await keepEnding(this.#folder, ending).catch(() => undefined)
    const { fence } = this.#offer
    const until = { signal: AbortSignal.any([this.#over.signal, late]) }
    await this.#orKept(finishJob({ calls: this.#calls, fence, events, raw, sender }, ending, until))
  }

  /** Keeps the job's folder where a runner that ends could not send what it has. */
  async #orKept(sending: Promise<void> | undefined): Promise<void> {
    try {
      await sending
    } catch (error) {
      this.#isKept = this.#stopped.aborted && !isLeaseLost(error)
      throw error
    }
  }

  /** Brings files and folder to where the service has them; returns whether the folder is new. */
  async #prepare(): Promise<boolean> {
    const signal = this.#stop.signal
    const { repository, files } = this.#spec
    await untilHeard(() => fetchTask(this.#clone, { ...this.#target(), user: repository.user }, { signal }), signal)
    const { branch, head, snapshot } = repository
    const commits = snapshot === null ? [head] : [head, snapshot]
    const from = () => ({ target: this.#target(), program: this.#parts.program })
    await untilHeard(() => bringLfs(this.#clone, commits, from(), { signal }), signal)
    if (repository.is_task) await this.#keepWhatIsThere({ signal })
    const isNew = await placeWorktree(this.#clone, { branch, head, snapshot }, { signal })
    for (const { n, path, mode } of files) {
      const bytes = await untilHeard(() => this.#calls.file(n, { signal }), signal)
      const target = this.#here(path, n)
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, bytes)
      await chmod(target, mode & 0o777)
    }
    return isNew
  }

  /** Sends what the folder has and the service hasn't, from a job that was lost, before it is brought elsewhere. */
  async #keepWhatIsThere({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { branch, head, snapshot } = this.#spec.repository
    if (await isAt(this.#clone, snapshot ?? head, { signal })) return
    const under = `refs/svc/live/left/${this.#spec.job}/`
    const max_file_bytes = this.#maxFileBytes()
    const push = () =>
      pushEverything(this.#clone, branch, { target: this.#target(), max_file_bytes, under }, { signal })
    await untilHeard(push, signal)
  }

  #startSender() {
    const { branch } = this.#spec.repository
    const max_file_bytes = this.#maxFileBytes()
    return startWorkSender({
      folder: taskFolder(this.#parts.folder, this.#spec.task_id),
      branch,
      target: () => this.#target(),
      max_file_bytes,
      takeOver: this.#parts.takeOver,
      log: this.#parts.log,
    })
  }

  /** Runs the set-up commands of a new folder; returns how the job ends where one fails. */
  async #setUp(tell: (event: JobEvent) => void): Promise<Ending | null> {
    for (const command of this.#spec.setup_commands) {
      const { exit_code, output_tail } = await this.#runStep({ command, timeout_ms: setUpMs }, () => undefined)
      if (exit_code === 0) continue
      if (this.#stop.signal.aborted) return { ...failed(null), status: 'stopped' }
      tell({ type: 'output', from: 'stderr', data: Buffer.from(output_tail).toString('base64') })
      return failed(new Error(`The set-up command failed (exit ${exit_code}): ${command}\n${output_tail}`))
    }
    return null
  }

  async #runSteps(tell: (event: JobEvent) => void): Promise<Ending> {
    let exit_code = 0
    for (const step of this.#spec.steps) {
      const result = await this.#runStep(step, (from, bytes) =>
        tell({ type: 'output', from, data: Buffer.from(bytes).toString('base64') }),
      )
      tell({ type: 'step', ...result })
      exit_code = result.exit_code
      if (exit_code !== 0) break
    }
    return { ...failed(null), status: this.#stop.signal.aborted ? 'stopped' : 'done', exit_code }
  }

  async #runStep(
    { command, timeout_ms }: JobSpec['steps'][number],
    onOutput: (from: 'stdout' | 'stderr', bytes: Uint8Array) => void,
  ) {
    const { containment } = this.#spec
    const capture = (from: 'stdout' | 'stderr') => ({
      push: (bytes: Uint8Array) => onOutput(from, bytes),
      text: () => '',
    })
    return await this.#parts.scripts.run(
      {
        command,
        cwd: this.#cwd,
        env: this.#env(),
        timeout_ms,
        stdout: capture('stdout'),
        stderr: capture('stderr'),
        processMarker: this.#spec.job,
        ...(containment && { containment: rulesOf(containment) }),
      },
      { signal: this.#stop.signal },
    )
  }

  async #runAgent(tell: (event: JobEvent) => void, raw: SentLog): Promise<Ending> {
    const { agent, execution } = this.#spec
    if (agent === null || execution === null) return failed(new Error('The job names no agent.'))
    const running = await this.#parts.runs.start(agent.executor, this.#runOf(tell, raw), { signal: this.#stop.signal })
    const stop = (): void => void running.stop()
    this.#stop.signal.addEventListener('abort', stop, { once: true })
    if (this.#stop.signal.aborted) stop()
    this.#listen((input) => {
      if (input.kind === 'keys') void running.input(input.data).catch(() => undefined)
      if (input.kind === 'size') running.resize?.(input.cols, input.rows)
      if (input.kind === 'answer') this.#answers.get(input.ask_id)?.(input.answer as AgentRequestAnswer | null)
    })
    const outcome = await running.outcome
    const { exit_code, session_id, usage, message } = outcome
    return {
      status: outcome.ended === 'stopped' ? 'stopped' : 'done',
      exit_code,
      session_id,
      usage,
      message,
      outcome: JobOutcome.parse(outcome),
    }
  }

  readonly #asks = new Map<string, () => Promise<void>>()
  readonly #answers = new Map<string, (answer: AgentRequestAnswer | null) => void>()

  #runOf(tell: (event: JobEvent) => void, raw: SentLog): ExecutionRun {
    const { agent, execution, prompt, session_id, task_id } = this.#spec
    if (agent === null || execution === null) throw new Error('The job names no agent.')
    const env = this.#env()
    return {
      execution_id: execution.id,
      task_id,
      ...(agent.id !== null && { agent_id: agent.id }),
      cwd: this.#cwd,
      prompt: this.#mapped(prompt),
      images: agent.images,
      config: agent.config,
      own_command: agent.own_command,
      env,
      mcp: agent.has_mcp ? { url: `${this.#parts.service.url()}/api/v1/mcp`, token: env['SVC_API_TOKEN'] ?? '' } : null,
      session_id,
      ...(agent.session_usage && { session_usage: agent.session_usage }),
      timeout_seconds: execution.timeout_seconds,
      log: {
        entry: (entry) => tell({ type: 'entry', entry }),
        raw: async (bytes) => raw.write(bytes),
        close: async () => undefined,
      },
      onSession: (id) => tell({ type: 'session', session_id: id }),
      onAnswer: (answer) => tell({ type: 'answer', answer }),
      onHostAllowed: (host) => tell({ type: 'host_allowed', host }),
      ...(agent.can_ask && { ask: (request, options) => this.#ask(request, options.signal) }),
    }
  }

  async #ask(
    request: Parameters<NonNullable<ExecutionRun['ask']>>[0],
    signal: AbortSignal,
  ): Promise<AgentRequestAnswer | null> {
    const ask_id = crypto.randomUUID()
    const answered = Promise.withResolvers<AgentRequestAnswer | null>()
    this.#answers.set(ask_id, answered.resolve)
    const leave = (): void => answered.resolve(null)
    signal.addEventListener('abort', leave, { once: true })
    const { fence } = this.#offer
    const say = () => untilHeard(() => this.#calls.ask({ fence, ask_id, request }, { signal }), signal)
    this.#asks.set(ask_id, say)
    await say().catch(leave)
    const answer = await answered.promise
    this.#answers.delete(ask_id)
    this.#asks.delete(ask_id)
    return answer
  }

  /** Another service may be there, which does not know yet what is asked; it takes each once. */
  #askAgain(): void {
    for (const say of this.#asks.values()) void say().catch(() => undefined)
  }

  /** Variables of the job, with the folders and the address that they have here. */
  #env(): Readonly<Record<string, string>> {
    const mapped = Object.entries(this.#spec.env).map(([name, value]) => [name, this.#mapped(value)])
    const url = 'SVC_API_URL' in this.#spec.env ? { SVC_API_URL: this.#parts.service.url() } : {}
    return { ...(Object.fromEntries(mapped) as Record<string, string>), ...url }
  }

  /** Replaces the folders of the service's machine in a text by those here. */
  #mapped(text: string): string {
    const named = this.#spec.files.reduce((said, { path, n }) => said.replaceAll(path, this.#here(path, n)), text)
    return named.replaceAll(this.#spec.folder, this.#cwd)
  }

  #here(path: string, n: number): string {
    const { folder } = this.#spec
    return path.startsWith(`${folder}/`)
      ? join(this.#cwd, path.slice(folder.length + 1))
      : join(this.#folder, 'files', String(n), basename(path))
  }

  #target() {
    return { url: `${this.#parts.service.url()}/api/v1/git/${this.#spec.job}.git`, token: this.#offer.token }
  }

  #openLog(name: string): Promise<SentLog> {
    const onLost = (): void => this.#lose()
    return openSentLog(
      { path: join(this.#folder, name), name, calls: this.#calls, onLost },
      { signal: this.#over.signal },
    )
  }

  #take(input: JobInput): void {
    this.#early.push(input)
    this.#onInput(input)
  }

  /** Hears all inputs, also those that came before. */
  #listen(onInput: (input: JobInput) => void): void {
    this.#onInput = onInput
    for (const input of this.#early) onInput(input)
  }

  #lose(): void {
    this.#isLost = true
    this.#stop.abort()
  }
}

function rulesOf({ level, hosts, read, write }: NonNullable<JobSpec['containment']>): ContainmentRules {
  return { level, ...(hosts && { hosts }), ...(read && { read }), ...(write && { write }) }
}

const setUpMs = 60 * 60_000
const lateMs = 60_000
