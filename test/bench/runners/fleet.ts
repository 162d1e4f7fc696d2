import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createServiceCalls, isLeaseLost, type ServiceCalls } from '../../../src-main/runner/service-calls.ts'
import { createClient, type Client } from '../../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../../src-shared/client/http-transport.ts'
import { jobProtocol, type JobOffer } from '../../../src-shared/contract/jobs.ts'
import { serveParent } from '../child.ts'
import { createObserver, type Observed } from './latencies.ts'
import { commitFile, fetchCommits, folders, openTrees, push, type NewCommit, type Trees } from './small-git.ts'

/*
 * Machines that connect from their side, as far as the service can tell: each asks for work, and sends beats, logs,
 * commits and ends as a runner does, over HTTP. No agent runs on them.
 */

export interface FleetProject {
  readonly id: string
  readonly agent_id: string
  readonly repo_path: string
  readonly tokens: readonly string[]
}

export interface RunShape {
  readonly seconds: number
  readonly output_kb: number
  readonly pushes: number
}

export type FleetRequest =
  | {
      readonly kind: 'open'
      readonly url: string
      readonly token: string
      readonly projects: readonly FleetProject[]
      readonly capacity: number
      readonly run: RunShape
    }
  /** From now on so many tasks a day are claimed. */
  | { readonly kind: 'rate'; readonly per_day: number }
  | { readonly kind: 'read' }
  /** Claims no more, and waits for what is under way. */
  | { readonly kind: 'drain'; readonly seconds: number }

export interface FleetAnswer extends Observed {
  readonly claimed: number
  readonly finished: number
  readonly landed: number
  /** Of what was claimed, how much has not landed yet. */
  readonly open: number
}

const beatSeconds = 8
const logEveryMs = 5_000
const { note, fail, timed, read } = createObserver()
const totals = { claimed: 0, finished: 0, landed: 0, failed: 0 }
const claimedAt = new Map<string, number>()
const isOver = new AbortController()
const until = { signal: isOver.signal }

/** One machine: asks for work, and does it. */
async function runMachine(calls: ServiceCalls, capacity: number, trees: Trees, shape: RunShape): Promise<void> {
  const instance = randomUUID()
  const report = { instance, protocol: jobProtocol, wait_seconds: 10, jobs: [], tasks: [], capacity }
  for (;;) {
    try {
      // What came in between was waited for, too, so that only empty answers tell how late one is.
      const since = performance.now()
      const { jobs: offers } = await calls.report(report, until)
      if (offers.length === 0) note('report, beyond its wait', Math.max(0, performance.now() - since - 10_000))
      for (const offer of offers)
        void perform(calls, offer, instance, trees, shape).catch((error) => fail('run', error))
    } catch (error) {
      if (isOver.signal.aborted) return
      fail('report', error)
      await delay(2_000)
    }
  }
}

async function perform(
  service: ServiceCalls,
  offer: JobOffer,
  instance: string,
  trees: Trees,
  { seconds, output_kb, pushes }: RunShape,
): Promise<void> {
  const { fence } = offer
  const calls = service.job(offer)
  const accept = () => calls.accept({ fence, instance, protocol: jobProtocol }, until)
  const spec = await timed('accept', accept).catch((error: unknown) => {
    // The next report was faster, and has it on offer again.
    if (isLeaseLost(error)) return null
    throw error
  })
  if (spec === null) return
  const { task_id, repository } = spec
  note('claim until a machine has it', performance.now() - (claimedAt.get(task_id) ?? Number.NaN))
  const end = new AbortController()
  const beating = beat(calls, fence, end.signal)
  const remote = { url: `${service.url()}/api/v1/git/${spec.job}.git`, token: offer.token }
  await timed('git fetch', () => fetchCommits(remote, [repository.base_commit, repository.head]))
  const turns = Math.max(1, Math.round((seconds * 1_000) / logEveryMs))
  const offsets: Record<string, number> = { events: 0, raw: 0 }
  let work: NewCommit | null = null
  for (let turn = 1; turn <= turns; turn++) {
    await delay((seconds * 1_000) / turns)
    const text = outputOf(Math.round((output_kb * 1_000) / turns), turn)
    const line = JSON.stringify({ type: 'entry', entry: { type: 'stdout', at: new Date().toISOString(), text } })
    for (const [name, bytes] of [
      ['events', Buffer.from(`${line}\n`)],
      ['raw', Buffer.from(text)],
    ] as const) {
      await timed('log', () => calls.log(name, offsets[name] ?? 0, bytes, until))
      offsets[name] = (offsets[name] ?? 0) + bytes.length
    }
    if (Math.floor((turn * pushes) / turns) === Math.floor(((turn - 1) * pushes) / turns)) continue
    const isLast = turn === turns
    const next: NewCommit = await commitFile(trees, repository.head, {
      folder: folders[Number.parseInt(spec.job.slice(-2), 16) % folders.length] ?? 'd00',
      name: `${spec.job}.txt`,
      text: `${spec.job} ${turn}\n${text}`,
    })
    const snapshot = { 'refs/svc/live/snapshot': [work?.id ?? repository.snapshot, next.id] as const }
    const branch = isLast && { [`refs/heads/${repository.branch}`]: [repository.head, next.id] as const }
    await timed('git push', () => push(remote, { ...snapshot, ...branch }, next.objects))
    work = next
  }
  end.abort()
  await beating
  const done = work?.id ?? repository.head
  await timed('finish', () =>
    calls.finish(
      {
        fence,
        status: 'done',
        exit_code: 0,
        session_id: null,
        usage: null,
        outcome: { ended: 'exited', conclusion: 'done' },
        message: null,
        logs: offsets,
        refs: { [`refs/heads/${repository.branch}`]: done, 'refs/svc/live/snapshot': done },
        left_there: [],
      },
      until,
    ),
  )
  totals.finished += 1
}

async function beat(calls: ReturnType<ServiceCalls['job']>, fence: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const ask = () =>
      calls.beat({ fence, seen: 0, wait_seconds: beatSeconds, now: new Date().toISOString() }, { signal })
    await timed('beat, beyond its wait', ask, () => beatSeconds * 1_000).catch((error: unknown) => {
      if (!signal.aborted) fail('beat', error)
      return delay(signal.aborted ? 0 : 1_000)
    })
  }
}

const word = 'reading src/app/settings.ts and running the tests of it \n'
const outputOf = (bytes: number, turn: number): string =>
  `${turn} `.concat(word.repeat(bytes / word.length + 1)).slice(0, bytes)

/** A person's day with one task: makes it, claims it for an agent, and merges what comes of it. */
async function work(client: Client, { id: project_id, agent_id }: FleetProject): Promise<void> {
  totals.claimed += 1
  const { id: task_id } = await timed('create a task', () =>
    client.call('tasks.create', { project_id, title: 'A task' }),
  )
  claimedAt.set(task_id, performance.now())
  await timed('claim', () => client.call('tasks.claim', { task_id, agent_id }))
  for (;;) {
    await delay(1_000)
    const task = await client.call('tasks.get', { task_id })
    if (task.status === 'blocked' || task.error_annotation) throw new Error(task.error_annotation?.message ?? 'blocked')
    if (task.review_passed_at === null || task.entry_barrier) continue
    const { version } = task
    const move = { task_id, status: 'merging', version }
    const { task: merged } = await timed('merge', () => client.call('tasks.transition', move))
    if (merged.status !== 'done') throw new Error(`A merge led to ${merged.status}.`)
    totals.landed += 1
    claimedAt.delete(task_id)
    return
  }
}

let person: Client | null = null
let projects: readonly FleetProject[] = []
let pace: NodeJS.Timeout | undefined
let turn = 0

function claimNext(): void {
  const project = projects[turn++ % projects.length]
  if (person === null || project === undefined) return
  void work(person, project).catch((error: unknown) => {
    totals.failed += 1
    fail('task', error)
  })
}

const look = (): FleetAnswer => {
  const { claimed, finished, landed, failed } = totals
  return { ...read(), claimed, finished, landed, open: claimed - landed - failed }
}

serveParent<FleetRequest, FleetAnswer>(async (request) => {
  if (request.kind === 'open') {
    const { url, token } = request
    person = createClient(createHttpTransport({ baseUrl: url, getToken: () => token }))
    projects = request.projects
    for (const { repo_path, tokens } of projects) {
      const trees = openTrees(repo_path)
      for (const own of tokens) {
        const calls = createServiceCalls({ url: () => url, token: () => own, reportPath: '/daemons/self/report' })
        void runMachine(calls, request.capacity, trees, request.run)
      }
    }
  }
  if (request.kind === 'rate') {
    clearInterval(pace)
    if (request.per_day > 0) pace = setInterval(claimNext, 86_400_000 / request.per_day)
  }
  if (request.kind === 'drain') {
    clearInterval(pace)
    const end = performance.now() + request.seconds * 1_000
    while (look().open > 0 && performance.now() < end) await delay(500)
  }
  return look()
})
