import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { ProjectId } from '../../../src-shared/contract/ids.ts'
import type { Queue, QueueEntry, WaitReason } from '../../../src-shared/contract/queue.ts'
import type { z } from 'zod'
import type { AgentDays } from '../../../src-shared/contract/limits.ts'
import { findPrice } from '../../../src-shared/contract/find-price.ts'
import { listPrices, listPricesDate } from '../../../src-shared/contract/list-prices.ts'
import type { AgentRecord } from '../../ports/agent-queries.ts'
import type { OpenExecution } from '../../ports/execution-queries.ts'
import type { ProjectRecord } from '../../ports/project-queries.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findExecution, findProject, findTask } from '../find.ts'

type Names =
  | 'projects.queue'
  | 'executions.move_in_queue'
  | 'projects.usage'
  | 'tasks.usage'
  | 'projects.limits'
  | 'projects.prices'
  | 'tasks.limits'

/** Handlers for running agents, the queue and usage. */
export function createQueueHandlers(parts: ApiParts): Handlers<Names> {
  const { engine } = parts
  const { limits, limitedUntil } = engine
  const retryOf = (record: OpenExecution, reason: WaitReason | null) => {
    const agent = record.agent_id === null ? null : read.agents.get(record.agent_id)
    const until = reason === 'usage_limit' ? limitedUntil(read, agent) : record.retry_at
    return until === null ? {} : { retry_at: until }
  }
  const dayOf = (project: ProjectRecord) => ({
    since: limits.since(),
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    warn_at: engine.views.settings(project).limits.warn_at,
  })
  const { read } = parts.store
  const entryOf = ({ id, task_id, role, agent_id, created_at }: OpenExecution): z.infer<typeof QueueEntry>[] => {
    const title = read.tasks.get(task_id)?.title ?? ''
    return agent_id === null ? [] : [{ execution_id: id, task_id, title, role, agent_id, created_at }]
  }
  const queueOf = (project_id: ProjectId): Queue => {
    const { max_concurrent_executions: limit } = engine.views.settings(findProject(read, project_id))
    const runs = engine.executions.running()
    const running = read.executions.queue(project_id).filter(({ status }) => status === 'running')
    let position = 0
    return {
      limit,
      running: running.flatMap((record) => {
        const run = runs.get(record.id)
        const waited = run?.modelWait?.since() ?? null
        const quiet_since = run?.stalled ? new Date(run.lastActivityAt).toISOString() : null
        return entryOf(record).map((entry) => ({
          ...entry,
          started_at: read.executions.get(record.id)?.started_at ?? null,
          quiet_since,
          model_silent_since: waited === null ? null : new Date(waited).toISOString(),
        }))
      }),
      waiting: engine.scheduler
        .waiting()
        .filter(({ record }) => record.project_id === project_id)
        .flatMap(({ record, reason, awaited }) =>
          entryOf(record).map((entry) => {
            if (reason === 'slots_full') position += 1
            return {
              ...entry,
              reason: reason ?? 'starting',
              position: reason === 'slots_full' ? position : null,
              ...(awaited.length > 0 && { runner_ids: [...awaited] }),
              ...retryOf(record, reason),
            }
          }),
        ),
    }
  }
  return {
    'projects.queue': ({ project_id }) => queueOf(project_id),
    'executions.move_in_queue': ({ execution_id, to }) => {
      const { project_id } = findExecution(read, execution_id)
      const refusal = engine.scheduler.move(execution_id, to)
      if (refusal) throw new ApiError(refusal)
      return queueOf(project_id)
    },
    'projects.usage': ({ project_id }) => read.usage.ofProject(findProject(read, project_id).id),
    'projects.limits': ({ project_id }) => {
      const project = findProject(read, project_id)
      const used = read.usage.ofProject(project.id).by_agent.map(({ agent_id }) => agent_id)
      const active = read.executions.queue(project.id).flatMap(({ agent_id }) => agent_id ?? [])
      const agents = [...new Set([...used, ...active])].flatMap((agent_id) => {
        const agent = read.agents.get(agent_id)
        if (!agent) return []
        const day = agentDay(parts, agent)
        return day.executions === 0 ? [] : [day]
      })
      return { ...dayOf(project), items: limits.ofProject(read, project), agents, list_prices_of: listPricesDate }
    },
    'projects.prices': ({ project_id, model }) => {
      const { prices: own } = engine.views.settings(findProject(read, project_id))
      const days_old = Math.floor((parts.clock.now() - Date.parse(listPricesDate)) / 86_400_000)
      const found = model === undefined ? {} : { found: findPrice(model, own) }
      return { list_prices_of: listPricesDate, days_old: Math.max(0, days_old), own, list: listPrices, ...found }
    },
    'tasks.limits': ({ task_id }) => {
      const task = findTask(read, task_id)
      const open = task.active_execution_id === null ? null : read.executions.get(task.active_execution_id)
      const last = open ?? read.executions.byTask(task_id).find((one) => one.agent_id !== null) ?? null
      const agent = last?.agent_id == null ? null : read.agents.get(last.agent_id)
      return {
        ...dayOf(findProject(read, task.project_id)),
        items: [...limits.uses(read, task, agent, last === null ? undefined : limits.spentBy(last))],
      }
    },
    'tasks.usage': ({ task_id }) => read.usage.ofTask(task_id),
  }
}

/** Returns an agent's usage of today, in all projects. */
export function agentDay({ engine, store }: ApiParts, agent: AgentRecord): AgentDays['items'][number] {
  const { unknown: incomplete, ...today } = engine.limits.today(store.read, { agent_id: agent.id })
  return { agent_id: agent.id, ...today, incomplete, items: engine.limits.ofAgent(store.read, agent) }
}
