import type { QueueEntry } from '../../../src-shared/contract/queue.ts'
import type { z } from 'zod'
import type { OpenExecution } from '../../ports/store.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findProject } from '../find.ts'

type Names = 'projects.queue' | 'projects.usage' | 'tasks.usage'

/** What agents are at, what waits for them, and what they have used. */
export function createQueueHandlers(parts: ApiParts): Handlers<Names> {
  const { engine } = parts
  const { read } = parts.store
  const entryOf = ({ id, task_id, role, agent_id, created_at }: OpenExecution): z.infer<typeof QueueEntry>[] => {
    const title = read.tasks.get(task_id)?.title ?? ''
    return agent_id === null ? [] : [{ execution_id: id, task_id, title, role, agent_id, created_at }]
  }
  return {
    'projects.queue': ({ project_id }) => {
      const { max_concurrent_executions: limit } = engine.views.settings(findProject(read, project_id))
      const runs = engine.executions.running()
      const running = read.executions.queue(project_id).filter(({ status }) => status === 'running')
      let position = 0
      return {
        limit,
        running: running.flatMap((record) => {
          const run = runs.get(record.id)
          const quiet_since = run?.stalled ? new Date(run.lastActivityAt).toISOString() : null
          return entryOf(record).map((entry) => ({
            ...entry,
            started_at: read.executions.get(record.id)?.started_at ?? null,
            quiet_since,
          }))
        }),
        waiting: engine.scheduler
          .waiting()
          .filter(({ record }) => record.project_id === project_id)
          .flatMap(({ record, reason }) =>
            entryOf(record).map((entry) => {
              if (reason === 'slots_full') position += 1
              return { ...entry, reason: reason ?? 'starting', position: reason === 'slots_full' ? position : null }
            }),
          ),
      }
    },
    'projects.usage': ({ project_id }) => read.usage.ofProject(findProject(read, project_id).id),
    'tasks.usage': ({ task_id }) => read.usage.ofTask(task_id),
  }
}
