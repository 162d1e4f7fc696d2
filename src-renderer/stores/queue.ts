import { defineStore } from 'pinia'
import { computed, watch } from 'vue'
import type { Queue } from '../../src-shared/contract/queue.ts'
import { atMostEvery } from '../composables/at-most-every.ts'
import { useResource } from '../composables/use-resource.ts'
import { waitWords } from '../composables/wait-words.ts'
import { useAgents } from './agents.ts'
import { useClient } from './client.ts'
import { useExecutions } from './executions.ts'
import { useLive } from './live.ts'
import { useProjects } from './projects.ts'
import { useTaskNews } from './task-news.ts'
import { useTasks } from './tasks.ts'

/** Agents that start together are asked about once. */
const pauseMs = 200

/** Which agents of the current project run and which wait, read again when an event says that this may have changed. */
export const useQueue = defineStore('queue', () => {
  const client = useClient()
  const agents = useAgents()
  const executions = useExecutions()
  const live = useLive()
  const news = useTaskNews()
  const projects = useProjects()
  const tasks = useTasks()

  const projectId = computed(() => projects.current?.id ?? null)
  const queue = useResource<Queue | null>(async () =>
    projectId.value === null ? null : client.call('projects.queue', { project_id: projectId.value }),
  )
  /** Everything on which the queue depends, as far as it is known here. */
  const standing = computed(() => {
    const project = projects.current
    if (project === null || live.offline) return null
    const atWork = [...tasks.byId.values()].flatMap((task) => {
      if (task.project_id !== project.id || task.active_execution_id === null) return []
      const status = executions.byId.get(task.active_execution_id)?.status ?? ''
      return `${task.active_execution_id} ${status} ${task.updated_at} ${news.changesOf(task.id, 'hooks')}`
    })
    const paused = agents.items.filter((agent) => agent.paused).map((agent) => agent.id)
    const limit = projects.settings(project.id)?.max_concurrent_executions
    return [project.id, project.updated_at, limit, ...paused, ...atWork].join('\n')
  })
  const paced = atMostEvery(pauseMs, () => void queue.reload())
  watch(projectId, queue.clear, { flush: 'sync' })
  watch(standing, (now) => now !== null && paced.ask(), { immediate: true })

  const waiting = computed(() => new Map(queue.value.value?.waiting.map((entry) => [entry.task_id as string, entry])))
  return {
    /** null until it is known. */
    current: queue.value,
    failure: queue.error,
    reload: queue.reload,
    /** Why the task's agent has not started, in words; null when it does not wait as far as is known. */
    waitOf(taskId: string): string | null {
      const entry = waiting.value.get(taskId)
      return entry === undefined
        ? null
        : waitWords(entry, tasks.byId.get(taskId)?.error_annotation?.type === 'hook_failed')
    },
  }
})
