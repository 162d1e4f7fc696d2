import { shallowRef, type ShallowRef } from 'vue'
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

/** The result of an action on several tasks. */
interface BulkResult {
  /** The verb of "3 of 5 started". */
  readonly verb: string
  readonly done: number
  readonly total: number
  readonly failed: readonly { readonly task: Task; readonly reason: string }[]
}

/** The action that runs; `at` is the index of the current task. */
interface BulkProgress {
  readonly verb: string
  readonly at: number
  readonly total: number
}

/** Actions on several tasks, of which one runs at a time. */
export interface BulkActions {
  /** null while no action runs. */
  readonly progress: Readonly<ShallowRef<BulkProgress | null>>
  /** The result of the last action on more than one task. */
  readonly result: ShallowRef<BulkResult | null>
  readonly start: (tasks: readonly Task[], agentId: string | null, overrides?: ExecutionOverrides) => Promise<void>
  readonly move: (tasks: readonly Task[], to: string) => Promise<void>
  readonly prioritize: (tasks: readonly Task[], priority: number) => Promise<void>
  /** Adds the label if `on`, removes it otherwise. */
  readonly label: (tasks: readonly Task[], label: string, on: boolean) => Promise<void>
  readonly archive: (tasks: readonly Task[]) => Promise<void>
  readonly stop: (tasks: readonly Task[]) => Promise<void>
}

/** Runs an action on several tasks in sequence and collects the reason of each failure. */
export function useBulk(): BulkActions {
  const tasks = useTasks()
  const executions = useExecutions()
  const projects = useProjects()
  const live = useLive()
  const selection = useSelection()
  const toasts = useToasts()
  const progress = shallowRef<BulkProgress | null>(null)
  const result = shallowRef<BulkResult | null>(null)

  const showArchived = useArchived()
  /**
   * Runs `work` per task; `work` returns the reason why it can't. `showDone` replaces the default
   * summary.
   */
  async function run(
    all: readonly Task[],
    verb: string,
    work: (task: Task) => string | null | Promise<unknown>,
    showDone?: (done: readonly Task[]) => void,
  ) {
    if (progress.value !== null) return
    const failed: { task: Task; reason: string }[] = []
    const done: Task[] = []
    result.value = null
    for (const [index, selected] of all.entries()) {
      progress.value = { verb, at: index, total: all.length }
      // The task may have changed since it was selected.
      const task = tasks.byId.get(selected.id) ?? selected
      try {
        const reason = live.offline ? changesAreOff : await work(task)
        if (typeof reason === 'string') failed.push({ task, reason })
        else done.push(task)
      } catch (error) {
        failed.push({ task, reason: errorSentence(error) })
      }
    }
    progress.value = null
    showDone?.(done)
    const [first] = failed
    if (all.length === 1) {
      if (first) toasts.warn(`“${first.task.title}” was not ${verb}. ${first.reason}`)
      return
    }
    result.value = { verb, done: done.length, total: all.length, failed }
    // Failed tasks stay selected for a retry.
    if (failed.length > 0) selection.set(failed.map(({ task }) => task.id))
    else if (!showDone) toasts.done(`${count(all.length, 'task')} ${verb}.`)
  }
  const refusals = (task: Task) =>
    actionsOf(task, stateOf(projects.workflow(task.project_id), task.status), null, live.offline)
  async function move(task: Task, to: string): Promise<string | null> {
    const workflow = projects.workflow(task.project_id)
    if (task.status === to) return null
    if (!stateOf(workflow, to)) return 'Its workflow has no such state'
    const options = (await tasks.moves(task.id)).filter((one) => one.to === to)
    const option = options.find(({ allowed }) => allowed)
    if (!option) return options.find(({ reason }) => reason !== null)?.reason ?? 'There is no way there from its state'
    if (option.via === 'claim') return 'This starts it. Use Start.'
    if (option.via === 'verdict_fail') return 'It needs your feedback. Request changes on it alone.'
    if (hasTrait(workflow, { name: to }, 'merges')) return 'Merge it alone, once you have read it.'
    await tasks.moving(task.id, to, () =>
      option.via === 'cancel' ? tasks.cancel(task.id) : tasks.transition(task.id, to),
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
      run(all, 'archived', (task) => refusals(task).archive ?? tasks.archive(task.id), showArchived),
    stop: (all: readonly Task[]) =>
      run(all, 'stopped', (task) => refusals(task).stop ?? executions.stop(task.active_execution_id ?? '')),
  }
}
