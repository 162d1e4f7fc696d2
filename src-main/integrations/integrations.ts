import type { IntegrationFields } from '../../src-shared/contract/integrations.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { IntegrationId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Integration, SyncCounts } from '../../src-shared/contract/integrations.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { createPollThrottle } from '../core/poll-throttle.ts'
import { isRefusal } from '../domain/refusal.ts'
import { blankIntegration, changeIntegration, checkFields, type IntegrationPatch } from './change-integration.ts'
import { withholdVariable } from '../platform/process/process-environment.ts'
import { linkTask } from './link-task.ts'
import { receiveWebhook, type ReadVariable } from './receive-webhook.ts'
import { checkBinding, secretOfWebhook, type Binder } from './secret-bindings.ts'
import type { IntegrationRecord, IssueTrackers } from '../ports/issue-trackers.ts'
import type { WebhookDelivery } from '../platform/text/webhook-signature.ts'
import { syncOnce, type SyncEnd } from './sync-once.ts'
import type { SyncServices } from './sync-services.ts'
import { toIntegration } from './to-integration.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { Clock } from '../ports/clock.ts'

/** The longest delay of a timer. */
const longestMs = 2_147_483_647

/** Calls a function once at a time. */
interface Deadline {
  /** Milliseconds since the epoch; replaces the time before. */
  at(time: number): void
  clear(): void
}

/** Waits in several timers if the time is too far for one, or the clock was set back. */
function createDeadline(clock: Clock, reach: () => void): Deadline {
  let timer: NodeJS.Timeout | null = null
  const clear = () => {
    if (timer) clearTimeout(timer)
    timer = null
  }
  return {
    at: (time) => {
      clear()
      timer = setTimeout(reach, Math.min(Math.max(time - clock.now(), 0), longestMs))
    },
    clear,
  }
}

/** Maximum of trackers read at once. */
const atOnce = 4

/** Connections of projects to issue trackers, and their polling. */
export interface Integrations {
  get(project_id: ProjectId): Integration | null
  create(project_id: ProjectId, fields: IntegrationFields, by: Binder): Integration | Refusal
  /** Returns null if the project has none. */
  update(project_id: ProjectId, patch: IntegrationPatch, by: Binder): Integration | Refusal | null
  /** Returns whether it existed. */
  delete(project_id: ProjectId): boolean
  /** Starts a cycle or joins the running one, which continues when the caller leaves. */
  sync(project_id: ProjectId, by: Binder): Promise<SyncCounts | Refusal | null>
  link(task_id: TaskId, url: string): TaskRecord | Refusal
  /**
   * Returns the project that a forge's webhook is for; null if it isn't signed with its secret. A right one brings the next
   * import forward, at most once in ten seconds.
   */
  receive(integration_id: string, delivery: WebhookDelivery): ProjectId | null
  /** Starts polling; interrupted cycles continue first. */
  start(): void
  /** Resolves when no cycle runs; interrupted ones continue at the next start. */
  close(): Promise<void>
}

interface Running {
  readonly end: Promise<SyncEnd>
  readonly stop: AbortController
}

export function createIntegrations(
  context: Ground,
  trackers: IssueTrackers,
  variable: ReadVariable,
  onClosed: SyncServices['onClosed'],
  chance: () => number = Math.random,
): Integrations {
  const { store, feed, clock, log, newId, workflows } = context
  const { read } = store
  const deps: SyncServices = { store, feed, clock, log, newId, workflows, trackers, onClosed, chance }
  const running = new Map<ProjectId, Running>()
  let state: 'waiting' | 'polling' | 'closed' = 'waiting'

  const run = (record: IntegrationRecord): Promise<SyncEnd> => {
    const stop = new AbortController()
    const end = syncOnce(deps, record, stop.signal).finally(() => {
      running.delete(record.project_id)
      look()
    })
    running.set(record.project_id, { end, stop })
    return end
  }
  const look = () => {
    if (state !== 'polling') return
    const idle = read.integrations
      .list()
      .filter((record) => record.enabled && !running.has(record.project_id))
      .toSorted((one, other) => one.next_poll_at.localeCompare(other.next_poll_at))
    for (const record of idle) {
      if (running.size >= atOnce) return
      const due = Date.parse(record.next_poll_at)
      if (due > clock.now()) return deadline.at(due)
      run(record).catch((error: unknown) => {
        log.error({ err: error, project_id: record.project_id }, 'the end of a sync could not be written down')
        deadline.at(clock.now() + 60_000)
      })
    }
  }
  const deadline = createDeadline(clock, look)
  /** Makes the import of a project due, unless its tracker asked for a pause. */
  const makeDue = (project_id: ProjectId) => {
    const isDue = feed.commit((tx) => {
      const record = tx.integrations.byProject(project_id)
      if (!record || (record.not_before !== null && Date.parse(record.not_before) > clock.now())) return false
      tx.integrations.put({ ...record, next_poll_at: tx.now() })
      return true
    })
    if (isDue) look()
  }
  const soon = createPollThrottle((project_id) => {
    // After a cycle that is under way, which may have missed the news.
    const under_way = running.get(project_id)?.end.then(nothing, nothing)
    if (under_way) void under_way.then(() => state === 'polling' && makeDue(project_id))
    else makeDue(project_id)
  })
  const view = (record: IntegrationRecord) => toIntegration(record, running.has(record.project_id))
  const emitIntegration = (tx: Tx, id: IntegrationId, project_id: ProjectId, integration: Integration | null) => {
    tx.emit('integration.updated', { project_id, integration_id: id, integration })
  }
  for (const record of read.integrations.list()) withholdVariables(record)
  const put = (record: IntegrationRecord, by: Binder): Integration | Refusal => {
    const integration = toIntegration(record, false)
    const refusal = feed.commit((tx) => {
      const hook = secretOfWebhook(record)
      const refused = checkBinding(tx, record, by) ?? (hook && checkBinding(tx, hook, by))
      if (refused) return refused
      tx.integrations.put(record)
      emitIntegration(tx, record.id, record.project_id, integration)
      return null
    })
    if (refusal) return refusal
    withholdVariables(record)
    look()
    return integration
  }
  return {
    get: (project_id) => {
      const record = read.integrations.byProject(project_id)
      return record && view(record)
    },
    create: (project_id, fields, by) => {
      if (read.integrations.byProject(project_id)) return exists
      const record = blankIntegration(context, project_id, newId() as IntegrationId, fields)
      return checkFields(context, record) ?? put(record, by)
    },
    update: (project_id, patch, by) => {
      const record = read.integrations.byProject(project_id)
      if (!record) return null
      const changed = changeIntegration(context, record, patch)
      const refusal = checkFields(context, changed)
      if (refusal) return refusal
      const updated = put(changed, by)
      // A running cycle uses the old fields.
      if (!isRefusal(updated)) running.get(project_id)?.stop.abort()
      return updated
    },
    delete: (project_id) => {
      const record = read.integrations.byProject(project_id)
      if (!record) return false
      running.get(project_id)?.stop.abort()
      feed.commit((tx) => {
        tx.integrations.delete(record.id)
        emitIntegration(tx, record.id, project_id, null)
      })
      return true
    },
    sync: async (project_id, by) => {
      const record = read.integrations.byProject(project_id)
      if (!record) return null
      if (!record.enabled) return disabled
      const bound = feed.commit((tx) => checkBinding(tx, record, by))
      if (bound) return bound
      return answerOf(await (running.get(project_id)?.end ?? run(record)))
    },
    link: (task_id, url) => linkTask(context, task_id, url),
    receive: (integration_id, delivery) => {
      const project_id = receiveWebhook(context, variable, integration_id, delivery)
      if (project_id !== null) soon.ask(project_id)
      return project_id
    },
    start: () => {
      state = 'polling'
      const interrupted = read.integrations
        .list()
        .filter((record) => record.walk !== null && record.last_error === null)
      for (const record of interrupted) feed.commit((tx) => tx.integrations.put({ ...record, next_poll_at: tx.now() }))
      look()
    },
    close: async () => {
      state = 'closed'
      deadline.clear()
      soon.stop()
      for (const { stop } of running.values()) stop.abort()
      await Promise.allSettled([...running.values()].map(({ end }) => end))
    },
  }
}

const nothing = () => undefined

function withholdVariables({ token_secret_ref, webhook_secret_ref }: IntegrationRecord): void {
  withholdVariable(token_secret_ref)
  if (webhook_secret_ref !== null) withholdVariable(webhook_secret_ref)
}

function answerOf(end: SyncEnd): SyncCounts | Refusal {
  switch (end.kind) {
    case 'done':
      return end.counts
    case 'failed':
      return {
        code: 'external_sync_failed',
        message: end.error.message,
        details: { reason: end.error.reason },
      }
    case 'stopped':
      return {
        code: 'external_sync_failed',
        message: 'The integration changed, or Copse stopped during the sync. Sync again.',
        details: { reason: 'interrupted' },
      }
  }
}

const exists: Refusal = {
  code: 'integration_exists',
  message: 'The project has an integration. Change that one, or delete it first.',
}

const disabled: Refusal = {
  code: 'integration_disabled',
  message: 'The integration is switched off. Set enabled to true, then sync.',
}
