import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import type { Queries } from '../ports/store.ts'
import { toSettings } from '../core/views.ts'

/** Refuses to change what a run uses. */
export function runningRefusal(running: number): Refusal | null {
  if (running === 0) return null
  const message = `${running === 1 ? 'A run uses' : `${running} runs use`} this runner. Stop ${running === 1 ? 'it' : 'them'} first.`
  return { code: 'runner_busy', message, details: { running } }
}

/** Refuses to remove a runner that something names, because what names it would then run elsewhere, or not at all. */
export function namedRefusal(q: Queries, id: RunnerId): Refusal | null {
  const named = (ids: readonly RunnerId[] | null | undefined) => ids?.includes(id) === true
  const agents = q.agents.list().filter(({ config }) => named(config.runner_ids))
  const projects = q.projects.list().filter((project) => {
    const { runner_ids, ci_runner } = toSettings(project)
    return named(runner_ids) || ci_runner === id
  })
  const tasks = new Set([
    ...q.executions.queue().flatMap((run) => (run.status === 'queued' && named(run.runner_ids) ? [run.task_id] : [])),
    ...q.tasks.startingWhenReady().filter((task) => named(q.tasks.get(task)?.start_when_ready?.overrides.runner_ids)),
  ])
  if (agents.length + projects.length + tasks.size === 0) return null
  const who = [
    ...agents.map(({ name }) => `the agent ${name}`),
    ...projects.map(({ name }) => `the project ${name}`),
    ...(tasks.size === 0 ? [] : [tasks.size === 1 ? 'a queued task' : `${tasks.size} queued tasks`]),
  ]
  return {
    code: 'runner_busy',
    message: `This runner is named by ${who.join(', ')}. Choose another one there first.`,
    details: {
      agents: agents.map((agent) => agent.id),
      projects: projects.map((project) => project.id),
      tasks: [...tasks],
    },
  }
}
