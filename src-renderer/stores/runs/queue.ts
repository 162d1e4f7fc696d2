import { defineStore } from 'pinia'
import { computed, shallowReactive, shallowRef, watch } from 'vue'
import type { Project } from '../../../src-shared/contract/projects.ts'
import type { Queue, QueueMove } from '../../../src-shared/contract/queue.ts'
import { waitReasonText } from '../../formatters/wait-reason-text.ts'
import { useAgents } from '../agents/agents.ts'
import { useRunners } from '../agents/runners.ts'
import { useClient } from '../base/client.ts'
import { useExecutions } from './executions.ts'
import { useLive } from '../live.ts'
import { useNavigation } from '../base/navigation.ts'
import { useProjects } from '../project/projects.ts'
import { useQueueChanges } from './queue-changes.ts'
import { useTaskInvalidation } from '../base/query.ts'
import { useTasks } from '../tasks/tasks.ts'

/**
 * The running and waiting agents of the current project, or of all shown ones. Reloaded when an
 * event may have changed them.
 */
export const useQueue = defineStore('queue', () => {
  const client = useClient()
  const agents = useAgents()
  const executions = useExecutions()
  const live = useLive()
  const navigation = useNavigation()
  const news = useTaskInvalidation()
  const projects = useProjects()
  const runners = useRunners()
  const tasks = useTasks()
  const queueChanges = useQueueChanges()

  const projectId = computed(() => projects.current?.id ?? null)
  const byProject = shallowReactive(new Map<string, Queue>())
  const failure = shallowRef<unknown>(null)
  /** Projects whose queue is loading → whether it changed during the request, so it must be loaded again. */
  const asking = new Map<string, boolean>()

  async function load(id: Project['id']): Promise<void> {
    if (asking.has(id)) return void asking.set(id, true)
    asking.set(id, false)
    try {
      byProject.set(id, await client.call('projects.queue', { project_id: id }))
      failure.value = null
    } catch (error) {
      failure.value = error
    }
    const again = asking.get(id)
    asking.delete(id)
    if (again) await load(id)
  }
  const reload = async (): Promise<void> => {
    if (projectId.value !== null) await load(projectId.value)
  }
  /** Whether all projects are shown: each card then shows its rank in its own project's queue. */
  const isAllProjects = computed(() => navigation.route.screen === 'all')
  /** By project, all known facts on which its queue depends. */
  const standings = computed(() => {
    if (live.offline) return new Map<Project['id'], { limit: number | undefined; others: string }>()
    const atWork = Map.groupBy(
      [...tasks.byId.values()].filter((task) => task.active_execution_id !== null),
      (task) => task.project_id,
    )
    const paused = agents.items.filter((agent) => agent.paused).map((agent) => agent.id)
    // A run may wait for any of these. Each run here has its own events.
    const places = runners.items.flatMap((one) =>
      one.kind === 'here' ? [] : [`${one.id} ${one.state} ${one.running} ${one.capacity}`],
    )
    const shown = isAllProjects.value
      ? projects.items.filter(({ id }) => atWork.has(id))
      : [projects.current ?? []].flat()
    return new Map(
      shown.map((project) => {
        const limit = projects.settings(project.id)?.max_concurrent_executions
        const runs = (atWork.get(project.id) ?? []).map((task) => {
          const status = executions.byId.get(task.active_execution_id ?? '')?.status ?? ''
          return `${task.active_execution_id} ${status} ${task.updated_at} ${news.changesOf(task.id, 'hooks')}`
        })
        const moves = queueChanges.changesOf(project.id)
        return [project.id, { limit, others: [project.updated_at, moves, ...paused, ...places, ...runs].join('\n') }]
      }),
    )
  })
  watch(
    standings,
    (now, before) => {
      for (const [id, { limit, others }] of now) {
        const last = before?.get(id)
        // A limit that was unknown here was known to the service, so learning it changes nothing.
        const isSame = others === last?.others && (limit === last.limit || last.limit === undefined)
        if (!isSame) void load(id)
      }
    },
    { immediate: true },
  )

  let lastMove: Promise<unknown> = Promise.resolve()
  /** null until it is loaded. */
  const current = computed(() => byProject.get(projectId.value ?? '') ?? null)
  /** The first entry of each task: entries behind it are messages. */
  const waiting = computed(() => {
    const shown = isAllProjects.value ? [...byProject.values()] : [current.value ?? []].flat()
    const entries = shown.flatMap((queue) => queue.waiting.toReversed())
    return new Map(entries.map((entry) => [entry.task_id as string, entry]))
  })
  return {
    current,
    failure,
    reload,
    /** Moves a waiting run. The reply contains the new order. */
    move: (executionId: string, to: QueueMove): Promise<void> => {
      const id = projectId.value
      // Moves run one after the other, because the last reply contains the final order.
      const move = lastMove.then(async () => {
        const queue = await client.call('executions.move_in_queue', { execution_id: executionId, to })
        if (id !== null) byProject.set(id, queue)
      })
      lastMove = move.catch(() => undefined)
      return move
    },
    /** Says why the task's agent waits. `isHeld`: a hook of the task failed and blocks it. */
    waitText: (taskId: string, isHeld: boolean): string => {
      const entry = waiting.value.get(taskId)
      return entry ? waitReasonText(entry, isHeld, runners.namesOf(entry.runner_ids)) : 'Queued'
    },
    /** Returns the task's entry in the queue; null if its agent is not known to wait. */
    waitingOf: (taskId: string): Queue['waiting'][number] | null => waiting.value.get(taskId) ?? null,
  }
})
