import { defineStore } from 'pinia'
import { computed, shallowRef, watch } from 'vue'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { openEventStream, type Connection, type Live } from '../api/live.ts'
import { changesAreOff } from '../formatters/changes-are-off.ts'
import { useAccounts } from './people/accounts.ts'
import { useAgents } from './agents/agents.ts'
import { useDaemons } from './agents/daemons.ts'
import { useRunners } from './agents/runners.ts'
import { applyEvent } from './apply-event.ts'
import { useConnection } from './base/client.ts'
import { useComments } from './review/comments.ts'
import { useExecutions } from './runs/executions.ts'
import { useLanding } from './review/landing.ts'
import { useIntegrations } from './project/integrations.ts'
import { usePullRequests } from './review/pull-requests.ts'
import { useNavigation } from './base/navigation.ts'
import { useKnowledge } from './project/knowledge.ts'
import { useNotifications } from './people/notifications.ts'
import { useOrphans } from './project/orphans.ts'
import { useOverlaps } from './review/overlaps.ts'
import { sleep } from './base/sleep.ts'
import { useProjects } from './project/projects.ts'
import { useQueueChanges } from './runs/queue-changes.ts'
import { useReviews } from './review/reviews.ts'
import { useSession } from './base/session.ts'
import { useRequests, useTaskInvalidation } from './base/query.ts'
import { useTaskTemplates } from './tasks/task-templates.ts'
import { useTasks } from './tasks/tasks.ts'
import { useToasts } from './base/toasts.ts'
import { useViewedFiles } from './tasks/viewed-files.ts'

/** The subscription to the service's events, and the loading of all stores. */
export const useLive = defineStore('live', () => {
  const { client } = useConnection()
  const toasts = useToasts()
  const targets = {
    tasks: useTasks(),
    executions: useExecutions(),
    reviews: useReviews(),
    comments: useComments(),
    news: useTaskInvalidation(),
    viewed: useViewedFiles(),
    notifications: useNotifications(),
    knowledge: useKnowledge(),
    taskTemplates: useTaskTemplates(),
    queue: useQueueChanges(),
    integrations: useIntegrations(),
    pullRequests: usePullRequests(),
    landing: useLanding(),
    overlaps: useOverlaps(),
    agents: useAgents(),
    daemons: useDaemons(),
    runners: useRunners(),
    accounts: useAccounts(),
    projects: useProjects(),
    warn: toasts.warn,
  }
  const session = useSession()
  const requests = useRequests()
  const orphans = useOrphans()
  const navigation = useNavigation()
  const connection = shallowRef<Connection>({ state: 'connecting' })
  /** Whether the connection is lost, so changes would be lost as well. */
  const offline = computed(() => connection.value.state === 'reconnecting')
  let live: Live | null = null

  /** Reloads unfinished executions, which may have ended while no event arrived. */
  async function reloadExecutions(): Promise<void> {
    const open = [...targets.executions.byId.values()].filter((execution) => execution.finished_at === null)
    await Promise.all(
      open.map(async ({ id, task_id }) => {
        try {
          await targets.executions.fetch(id)
        } catch (error) {
          if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
          targets.executions.removeTask(task_id)
        }
      }),
    )
  }
  /**
   * Loads projects, which every screen needs, together with the board of the one in the address,
   * then the rest of what boards show. Rejects if any part fails.
   */
  async function reload(): Promise<void> {
    targets.viewed.clear()
    requests.forget()
    const openId = navigation.projectId
    // Only the project list says whether this project exists, so a failure is ignored until then.
    const open = openId === null ? null : Promise.allSettled([targets.projects.prepare(openId)])
    await Promise.all([
      ...[targets.projects, targets.agents, session].map((store) => store.load()),
      ...[targets.integrations, targets.pullRequests, targets.landing, targets.overlaps, targets.notifications].map(
        (store) => store.reload(),
      ),
    ])
    void targets.accounts.loadNames()
    await Promise.all([
      ...targets.projects.items.map(async ({ id }) => {
        if (open === null || id !== openId) return targets.projects.prepare(id)
        const [prepared] = await open
        if (prepared.status === 'rejected') throw prepared.reason
      }),
      reloadExecutions(),
    ])
    const failed = boardFailure()
    if (failed) throw failed instanceof Error ? failed : new Error('Not everything was loaded.', { cause: failed })
    // Not awaited, because it scans the disk.
    void orphans.load()
    // Not awaited, because boards show a run without the name of its runner, too.
    void targets.runners.load().catch(() => undefined)
  }
  /** Returns why a board could not be loaded; the board itself shows this. */
  function boardFailure(): unknown {
    const states = targets.projects.items.map((project) => targets.tasks.loadState(project.id))
    return targets.projects.failure ?? states.find((state) => state.kind === 'failed')?.error
  }
  function start(): void {
    live ??= openEventStream({
      client,
      onEvent: (event) => applyEvent(event, targets),
      onActivity: targets.executions.setActivity,
      onWorktree: ({ task_id }) => targets.news.changed(task_id, 'files'),
      onHook: ({ task_id }) => targets.news.changed(task_id, 'hooks'),
      onReset: async () => {
        try {
          await reload()
          return true
        } catch (error) {
          // Calls that could not reach the service are repeated, and the bar above the board shows the lost connection.
          const isTold = !(error instanceof ApiError) || error === boardFailure()
          if (!isTold) toasts.refused(error, 'Couldn’t load everything.')
          return false
        }
      },
      onConnection: (next) => (connection.value = next),
      now: () => Date.now(),
      wait: sleep,
    })
    window.addEventListener('online', () => live?.tryNow())
  }
  return {
    connection,
    offline,
    /** The reason why changes are impossible now; null if they are possible. */
    refusal: computed(() => (offline.value ? changesAreOff : null)),
    start,
    reload,
    stop(): void {
      live?.close()
      live = null
      targets.accounts.forget()
    },
    tryNow: () => live?.tryNow(),
  }
})

/** Calls back after a reconnect, because data outside the stores may have changed. */
export function useWhenBack(work: () => void): void {
  const live = useLive()
  watch(
    () => live.connection.state,
    (now, before) => {
      if (now === 'live' && before === 'reconnecting') work()
    },
  )
}
