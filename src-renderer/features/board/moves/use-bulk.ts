import { shallowRef } from 'vue'
import type { ExecutionOverrides } from '../../../../src-shared/contract/executions.ts'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { errorSentence } from '../../../formatters/error-sentence.ts'
import { count } from '../../../formatters/format-amounts.ts'
import { changesAreOff } from '../../../formatters/changes-are-off.ts'
import { hasTrait, stateOf } from '../../../model/workflow-shape.ts'
import { useExecutions } from '../../../stores/runs/executions.ts'
import { useLive } from '../../../stores/live.ts'
import { useProjects } from '../../../stores/project/projects.ts'
import { useSelection } from '../selection.ts'
import { useTasks } from '../../../stores/tasks/tasks.ts'
import { useToasts } from '../../../stores/base/toasts.ts'
import { actionsOf } from './card-actions.ts'
import { useArchived } from './use-undo.ts'

/** What came of a thing that was done with several tasks. */
export interface BulkResult {
  /** As in “3 of 5 started”. */
  readonly verb: string
  readonly done: number
  readonly total: number
  readonly failed: readonly { readonly task: Task; readonly reason: string }[]
}

/** Does one thing with several tasks, one after the other, and says of each that it was not done with why. */
export function useBulk() {
  const tasks = useTasks()
  const executions = useExecutions()
  const projects = useProjects()
  const live = useLive()
  const selection = useSelection()
  const toasts = useToasts()
  const progress = shallowRef<{ readonly verb: string; readonly at: number; readonly total: number } | null>(null)
  const result = shallowRef<BulkResult | null>(null)

  const tellArchived = useArchived()
  /** `work` answers why it can't be done, or does it. `tell` says what was done, in the place of the usual words. */
  async function run(
    all: readonly Task[],
    verb: string,
    work: (task: Task) => string | null | Promise<unknown>,
    tell?: (done: readonly Task[]) => void,
  ) {
    if (progress.value !== null) return
    const failed: { task: Task; reason: string }[] = []
    const done: Task[] = []
    result.value = null
    for (const [at, given] of all.entries()) {
      progress.value = { verb, at, total: all.length }
      // It may have moved on since it was picked.
      const task = tasks.byId.get(given.id) ?? given
      try {
        const reason = live.offline ? changesAreOff : await work(task)
        if (typeof reason === 'string') failed.push({ task, reason })
        else done.push(task)
      } catch (error) {
        failed.push({ task, reason: errorSentence(error) })
      }
    }
    progress.value = null
    tell?.(done)
    const [first] = failed
    if (all.length === 1) {
      if (first) toasts.warn(`“${first.task.title}” was not ${verb}. ${first.reason}`)
      return
    }
    result.value = { verb, done: done.length, total: all.length, failed }
    // What was not done stays picked: it is there to be tried again.
    if (failed.length > 0) selection.set(failed.map(({ task }) => task.id))
    else if (!tell) toasts.done(`${count(all.length, 'task')} ${verb}.`)
  }
  const refusals = (task: Task) =>
    actionsOf(task, stateOf(projects.workflow(task.project_id), task.status), null, live.offline)
  async function move(task: Task, to: string): Promise<string | null> {
    const workflow = projects.workflow(task.project_id)
    if (task.status === to) return null
    if (!stateOf(workflow, to)) return 'Its workflow has no such state'
    const options = (await tasks.moves(task.id)).filter((one) => one.to === to)
    const way = options.find(({ allowed }) => allowed)
    if (!way) return options.find(({ reason }) => reason !== null)?.reason ?? 'There is no way there from its state'
    if (way.via === 'claim') return 'This starts it. Use Start.'
    if (way.via === 'verdict_fail') return 'It needs your feedback. Request changes on it alone.'
    if (hasTrait(workflow, { name: to }, 'merges')) return 'Merge it alone, once you have read it.'
    await tasks.moving(task.id, to, () =>
      way.via === 'cancel' ? tasks.cancel(task.id) : tasks.transition(task.id, to),
    )
    return null
  }
  return {
    progress,
    result,
    start: (all: readonly Task[], agentId: string | null, overrides?: ExecutionOverrides) =>
      run(all, 'started', (task) => refusals(task).start ?? tasks.claim(task.id, agentId ?? undefined, overrides)),
    move: (all: readonly Task[], to: string) => run(all, 'moved', (task) => move(task, to)),
    prioritize: (all: readonly Task[], priority: number) =>
      run(all, 'changed', (task) => (task.priority === priority ? null : tasks.update({ task_id: task.id, priority }))),
    label: (all: readonly Task[], label: string, on: boolean) =>
      run(all, on ? 'labelled' : 'changed', ({ id, labels }) => {
        if (labels.includes(label) === on) return null
        return tasks.update({ task_id: id, labels: on ? [...labels, label] : labels.filter((one) => one !== label) })
      }),
    archive: (all: readonly Task[]) =>
      run(all, 'archived', (task) => refusals(task).archive ?? tasks.archive(task.id), tellArchived),
    stop: (all: readonly Task[]) =>
      run(all, 'stopped', (task) => refusals(task).stop ?? executions.stop(task.active_execution_id ?? '')),
  }
}
