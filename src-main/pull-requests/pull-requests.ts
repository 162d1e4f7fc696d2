import type { PullRequestRecovery } from '../../src-shared/contract/action-names.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { PullRequest } from '../../src-shared/contract/pull-requests.ts'
import type { Tx } from '../core/event-feed.ts'
import { isRefusal } from '../domain/refusal.ts'
import { createKeyedLock } from '../platform/locks/keyed-lock.ts'
import { ForgeError, type TokenCheck } from '../ports/forges.ts'
import { TrackerError } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import {
  closePull,
  mergePull,
  readyPull,
  reopenPull,
  replyToThread,
  syncNow,
  type MergeWish,
  type ReplyWish,
} from './act-on-pull.ts'
import { checkToken } from './check-token.ts'
import type { ClosedIssue } from '../integrations/rules/read-issue.ts'
import { bindBeforeSending } from '../integrations/secret-bindings.ts'
import { planWriteBack } from './write-back.ts'
import { closeBeforeDeletion, closeIntent } from './close-pull.ts'
import { connectionOf, writingConnectionOf } from './connection.ts'
import { createPollThrottle } from '../core/poll-throttle.ts'
import { makeDue } from './make-due.ts'
import { noteClosedIssue } from './follow-issue.ts'
import { followStack } from './follow-stack.ts'
import { openPull, type OpenedPull, type OpenWish } from './open-pull.ts'
import { openAgain, openAtGate } from './open-at-gate.ts'
import type { PluginResult } from '../core/plugin-result.ts'
import { reactToPull } from './react-to-pull.ts'
import { createRefusedMerges, type RefusedMerges } from './refused-merges.ts'
import { recoverPull } from './recover-pull.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { isAllDue } from './rules/next-sync.ts'
import { retryDelay } from './rules/transient.ts'
import { sendPending } from './send-intents.ts'
import { syncPull } from './sync-pull.ts'
import { savePull } from './pull-records.ts'
import { isOpenAt } from './rules/pull-states.ts'
import { toPullRequest } from './to-pull-request.ts'

/** Tasks' pull requests at their forges. */
export interface PullRequests {
  /** Returns a pull request as clients see it. */
  view(record: PullRequestRecord): PullRequest
  check(project_id: ProjectId, signal: AbortSignal): Promise<TokenCheck | Refusal>
  open(task_id: TaskId, wish: OpenWish, triggered_by: string, signal: AbortSignal): Promise<OpenedPull | Refusal>
  /** Opens or updates the pull request of a task that enters its gate. */
  openAtGate(
    task_id: TaskId,
    wish: { readonly draft: boolean | null; readonly triggered_by: string },
    signal: AbortSignal,
  ): Promise<PluginResult>
  /** Does what a person chose where a pull request doesn't get on. */
  recover(
    task_id: TaskId,
    action: PullRequestRecovery,
    triggered_by: string,
    signal: AbortSignal,
  ): Promise<{ readonly done: true } | Refusal>
  sync(task_id: TaskId, signal: AbortSignal): Promise<PullRequestRecord | Refusal>
  merge(task_id: TaskId, wish: MergeWish, signal: AbortSignal): Promise<PullRequestRecord | Refusal>
  close(task_id: TaskId, signal: AbortSignal): Promise<PullRequestRecord | Refusal>
  reopen(task_id: TaskId, signal: AbortSignal): Promise<PullRequestRecord | Refusal>
  ready(task_id: TaskId, signal: AbortSignal): Promise<PullRequestRecord | Refusal>
  reply(
    task_id: TaskId,
    wish: ReplyWish,
    by: { readonly triggered_by: string; readonly with_push: boolean },
    signal: AbortSignal,
  ): Promise<PullRequestRecord | Refusal>
  /** Returns what writes down, beside another change, that a task's open pull request is to be closed; then `send` it. */
  closeIntent(task_id: TaskId, triggered_by: string): { readonly write: (tx: Tx) => void } | Refusal
  /** Closes the open pull request of a task that is to be deleted. */
  closeBeforeDeletion(task_id: TaskId, signal: AbortSignal): Promise<Refusal | null>
  /** Sends what was written down for a task, now or as soon as the forge takes it. */
  send(task_id: TaskId): void
  /** A task has gone on: its issue may be told, where that is switched on. */
  touch(task_id: TaskId): void
  /** The issue of a task was closed at the forge: the task may follow. */
  issueClosed(task_id: TaskId, issue: ClosedIssue): void
  /** The branch of a stacked task was brought along, or the pull request below it has gone on. */
  followStack(task_id: TaskId): void
  /** Brings the next poll of a project's pull requests forward. */
  poke(project_id: ProjectId): void
  /** As `poke`, for what may ask for it again and again: at most once in ten seconds. */
  pollSoon(project_id: ProjectId): void
  /** Finishes what a killed service left to send, and begins to poll. */
  start(): void
  stop(): Promise<void>
}

/** The longest delay of a timer. */
const longestMs = 2_147_483_647

export function createPullRequests(deps: PullRequestDeps): PullRequests {
  const { context } = deps
  const { read } = context.store
  // A pull request is changed by one at a time, so that nothing is opened or sent twice.
  const perTask = createKeyedLock()
  const locked = <T>(task_id: TaskId, work: () => Promise<T>): Promise<T> =>
    perTask.run(task_id, async () => {
      const before = shownAbove(deps, task_id)
      try {
        return await work()
      } finally {
        if (shownAbove(deps, task_id) !== before) for (const id of allAbove(deps, task_id)) follow(id)
      }
    })
  const stop = new AbortController()
  let timer: NodeJS.Timeout | null = null
  let polling: Promise<void> | null = null
  const sending = new Set<Promise<unknown>>()
  /** Writes that failed and may succeed later, by task. */
  const retries = new Map<TaskId, Retry>()
  const refused = createRefusedMerges()
  let isStarted = false

  const look = () => {
    if (!isStarted || stop.signal.aborted || polling !== null) return
    if (timer) clearTimeout(timer)
    noteRetries(deps, retries)
    const [first] = duePulls(deps)
    const times = [...retries.values()].map(({ at }) => at).concat(first ? [Date.parse(first.next_poll_at)] : [])
    if (times.length === 0) return
    const wait = Math.min(Math.max(Math.min(...times) - context.clock.now(), 0), longestMs)
    timer = setTimeout(() => {
      polling = retryDue(deps, retries, locked, stop.signal)
        .then(() => pollDue(deps, locked, refused, stop.signal))
        .catch((error: unknown) => {
          if (!stop.signal.aborted) context.log.error({ err: error }, 'pull requests could not be polled')
        })
        .finally(() => {
          polling = null
          look()
        })
    }, wait)
  }
  const then = async <T>(task_id: TaskId, work: () => Promise<T>): Promise<T> => {
    try {
      return await locked(task_id, work)
    } finally {
      look()
    }
  }
  /** Does something for a task beside everything else. */
  const later = (task_id: TaskId, work: () => Promise<unknown>) => {
    const sent = then(task_id, work).catch((error: unknown) => {
      if (!stop.signal.aborted) context.log.error({ err: error, task_id }, 'a forge could not be written to')
    })
    sending.add(sent)
    void sent.finally(() => sending.delete(sent))
  }
  const sendSoon = (task_id: TaskId) => {
    later(task_id, () => sendLater(deps, task_id, stop.signal))
  }
  const soon = createPollThrottle((project_id) => {
    // After a poll that is under way, which may have missed the news.
    for (const record of read.pull_requests.live()) {
      if (record.project_id !== project_id) continue
      refused.forget(record.task_id)
      later(record.task_id, async () => makeDue(deps, record.task_id))
    }
  })
  const follow = (task_id: TaskId) => {
    if (!isStarted || stop.signal.aborted) return
    later(task_id, async () => {
      const before = read.pull_requests.of(task_id)?.pushed
      await followStack(deps, task_id, stop.signal)
      if (read.pull_requests.of(task_id)?.pushed !== before) await sendAfterPush(deps, task_id, stop.signal)
      announceAbove(deps, task_id)
    })
  }
  /** What the forge told is followed before the caller hears of it. */
  const reacting = (task_id: TaskId, ask: () => Promise<PullRequestRecord | Refusal>, signal: AbortSignal) =>
    then(task_id, async () => {
      const record = await ask()
      const connection = isRefusal(record) ? null : writingConnectionOf(read, record)
      if (connection === null || isRefusal(connection)) return record
      refused.forget(task_id)
      await reactToPull(deps, connection, task_id, refused, signal)
      const known = read.pull_requests.of(task_id)
      // What follows from a merge, the caller needs not wait for.
      if (known?.settled) sendSoon(task_id)
      return known ?? record
    })
  return {
    view: (record) => toPullRequest(deps, read, record),
    check: (project_id, signal) => checkToken(deps, project_id, signal),
    open: (task_id, wish, by, signal) =>
      then(task_id, async () => {
        const opened = await openPull(deps, task_id, wish, by, signal)
        if (!isRefusal(opened)) await sendAfterPush(deps, task_id, signal)
        return opened
      }),
    openAtGate: (task_id, { draft, triggered_by }, signal) =>
      then(task_id, async () => {
        const wish = { draft, title: null, body: null }
        const result = await openAtGate(deps, task_id, wish, triggered_by, signal)
        // While the forge fails, or the task waits for the one below it, nothing was pushed.
        const waits = read.forge_intents.pending(task_id).some(({ intent }) => intent.kind === 'open')
        if (result.kind === 'ok' && !waits) await sendAfterPush(deps, task_id, signal)
        return result
      }),
    recover: (task_id, action, triggered_by, signal) =>
      then(task_id, () => recoverPull(deps, task_id, action, triggered_by, signal)),
    sync: (task_id, signal) => reacting(task_id, () => syncNow(deps, task_id, signal), signal),
    merge: (task_id, wish, signal) => reacting(task_id, () => mergePull(deps, task_id, wish, signal), signal),
    close: (task_id, signal) => then(task_id, () => closePull(deps, task_id, signal)),
    reopen: (task_id, signal) => then(task_id, () => reopenPull(deps, task_id, signal)),
    ready: (task_id, signal) => then(task_id, () => readyPull(deps, task_id, signal)),
    reply: (task_id, wish, by, signal) => then(task_id, () => replyToThread(deps, task_id, wish, by, signal)),
    closeIntent: (task_id, triggered_by) => closeIntent(deps, task_id, triggered_by),
    closeBeforeDeletion: (task_id, signal) => then(task_id, () => closeBeforeDeletion(deps, task_id, signal)),
    send: sendSoon,
    touch: (task_id) => {
      if (!isStarted || stop.signal.aborted || !planWriteBack(deps, task_id)) return
      sendSoon(task_id)
    },
    issueClosed: (task_id, issue) => {
      if (noteClosedIssue(deps, task_id, issue)) sendSoon(task_id)
    },
    followStack: follow,
    poke: (project_id) => {
      context.feed.commit((tx) => {
        for (const record of tx.pull_requests.live()) {
          if (record.project_id !== project_id) continue
          refused.forget(record.task_id)
          tx.pull_requests.put({ ...record, next_poll_at: tx.now() })
        }
      })
      look()
    },
    pollSoon: soon.ask,
    start: () => {
      isStarted = true
      for (const { task_id } of read.forge_intents.pending(null))
        retries.set(task_id, { at: context.clock.now(), failures: 0 })
      look()
    },
    stop: async () => {
      stop.abort()
      soon.stop()
      if (timer) clearTimeout(timer)
      await Promise.allSettled([polling, ...sending])
    },
  }
}

/** Returns what the pull requests of the tasks above depend on. */
function shownAbove({ context }: PullRequestDeps, task_id: TaskId): string {
  const record = context.store.read.pull_requests.of(task_id)
  return record === null ? '' : `${record.number} ${record.state} ${record.pushed ?? ''}`
}

/** Tells that a pull request waits for another one below it, or for none. */
function announceAbove(deps: PullRequestDeps, task_id: TaskId): void {
  deps.context.feed.commit((tx) => {
    const record = tx.pull_requests.of(task_id)
    if (record && isOpenAt(record)) savePull(deps, tx, record)
  })
}

/** Returns the tasks above another in its stack. */
function allAbove({ context }: PullRequestDeps, task_id: TaskId): Iterable<TaskId> {
  const { stackedOn } = context.store.read.tasks
  const found = new Set(stackedOn(task_id))
  // A set grows while it is walked.
  for (const id of found) for (const upper of stackedOn(id)) found.add(upper)
  return found
}

interface Retry {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly failures: number
}

/** Takes up what waits for a forge and isn't tried again yet, and forgets what no longer waits. */
function noteRetries({ context }: PullRequestDeps, retries: Map<TaskId, Retry>): void {
  const waiting = context.store.read.forge_intents.pending(null).filter(({ with_push }) => !with_push)
  const tasks = new Set(waiting.map(({ task_id }) => task_id))
  for (const task_id of retries.keys()) if (!tasks.has(task_id)) retries.delete(task_id)
  const at = context.clock.now() + retryDelay(1)
  for (const task_id of tasks) if (!retries.has(task_id)) retries.set(task_id, { at, failures: 1 })
}

/** Tries again to write what could not be written. What still can't be waits longer. */
async function retryDue(
  deps: PullRequestDeps,
  retries: Map<TaskId, Retry>,
  locked: Locked,
  signal: AbortSignal,
): Promise<void> {
  const { context } = deps
  const { read } = context.store
  for (const [task_id, { at, failures }] of retries) {
    if (signal.aborted || at > context.clock.now()) continue
    retries.set(task_id, { at: context.clock.now() + retryDelay(failures + 1), failures: failures + 1 })
    await locked(task_id, async () => {
      const open = read.forge_intents.pending(task_id).find(({ intent }) => intent.kind === 'open')
      const isOpened =
        open?.intent.kind === 'open' && (await openAgain(deps, task_id, open.intent, open.triggered_by, signal))
      await (isOpened ? sendAfterPush : sendLater)(deps, task_id, signal)
    }).catch((error: unknown) => {
      if (!signal.aborted) context.log.error({ err: error, task_id }, 'a forge could not be written to')
    })
  }
}

/** Returns the pull requests that may be asked for, by the time at which they are due. */
function duePulls({ context }: PullRequestDeps): readonly PullRequestRecord[] {
  const { read } = context.store
  return read.pull_requests.live().filter((record) => !isRefusal(writingConnectionOf(read, record)))
}

type Locked = <T>(task_id: TaskId, work: () => Promise<T>) => Promise<T>

/** Asks for each pull request that is due. One that fails is due later, and holds up no other. */
async function pollDue(
  deps: PullRequestDeps,
  locked: Locked,
  refused: RefusedMerges,
  signal: AbortSignal,
): Promise<void> {
  const { context } = deps
  const now = context.clock.now()
  for (const { task_id, next_poll_at } of duePulls(deps)) {
    if (signal.aborted || Date.parse(next_poll_at) > now) return
    await locked(task_id, async () => {
      const record = context.store.read.pull_requests.of(task_id)
      const connection = record && writingConnectionOf(context.store.read, record)
      if (!record || connection === null || isRefusal(connection)) return
      // Due later before it is asked for: whatever fails now must not be due again at once.
      const later = now + connection.poll_interval_secs * 1_000
      context.feed.commit((tx) => {
        const current = tx.pull_requests.of(task_id)
        if (current) tx.pull_requests.put({ ...current, next_poll_at: new Date(later).toISOString() })
      })
      try {
        await sendLater(deps, task_id, signal)
        if (record.state !== 'merged')
          await syncPull(deps, connection, record, signal, isAllDue(record.read_all_at, now))
        // It may have been switched off while the forge answered.
        const current = writingConnectionOf(context.store.read, record)
        if (isRefusal(current)) return
        await reactToPull(deps, current, task_id, refused, signal)
        if (context.store.read.pull_requests.of(task_id)?.settled) await sendLater(deps, task_id, signal)
      } catch (error) {
        if (signal.aborted) return
        const isExpected = error instanceof ForgeError || error instanceof TrackerError
        context.log[isExpected ? 'info' : 'error']({ err: error, task_id }, 'a pull request could not be read')
      }
    })
  }
}

/** Sends the answers that waited for a push. */
async function sendAfterPush(deps: PullRequestDeps, task_id: TaskId, signal: AbortSignal): Promise<void> {
  deps.context.feed.commit((tx) => {
    for (const intent of tx.forge_intents.pending(task_id)) {
      if (intent.with_push) tx.forge_intents.put({ ...intent, with_push: false })
    }
  })
  await sendLater(deps, task_id, signal)
}

/** Sends what waits. What the forge doesn't take now is sent with a later poll. */
async function sendLater(deps: PullRequestDeps, task_id: TaskId, signal: AbortSignal): Promise<void> {
  const { context } = deps
  const { read } = context.store
  const task = read.tasks.get(task_id)
  const connection = task && connectionOf(read, task)
  if (connection === null || isRefusal(connection)) return
  try {
    bindBeforeSending(context, connection)
    await sendPending(deps, connection, task_id, signal)
  } catch (error) {
    if (signal.aborted || !(error instanceof ForgeError || error instanceof TrackerError)) throw error
    context.log.info({ err: error, task_id }, 'what is to be written to a forge could not be sent yet')
  }
}
