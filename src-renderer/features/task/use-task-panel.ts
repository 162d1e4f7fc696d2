import { computed, ref, watch } from 'vue'
import { glyphOfState, stateOf } from '../../model/workflow-shape.ts'
import { useComments } from '../../stores/review/comments.ts'
import { useExecutions } from '../../stores/runs/executions.ts'
import { useLive, useWhenBack } from '../../stores/live.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useReviews } from '../../stores/review/reviews.ts'
import { useTaskQueries } from '../../stores/review/task-details.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import type { RecoveryAction } from '../../../src-shared/contract/tasks.ts'
import { useAction } from '../../stores/base/query.ts'
import { useToasts } from '../../stores/base/toasts.ts'
import { hasEndedEarly } from './condition.ts'

/** Returns the task with its related data and actions. */
export function useTaskPanel(taskId: () => string) {
  const tasks = useTasks()
  const projects = useProjects()
  const live = useLive()
  const task = computed(() => tasks.byId.get(taskId()) ?? null)
  const workflow = computed(() => (task.value ? projects.workflow(task.value.project_id) : undefined))
  const state = computed(() => stateOf(workflow.value, task.value?.status ?? ''))
  const { moves, workspace } = useTaskQueries(taskId)

  const start = computed(() => {
    const kind = state.value?.kind
    if (task.value === null || task.value.active_execution_id !== null) return null
    if (kind !== 'backlog' && kind !== 'initial' && kind !== 'active') return null
    // The note above the tabs has all actions to continue.
    if (hasEndedEarly(task.value.error_annotation)) return null
    return { refused: live.refusal }
  })
  const glyph = computed(() => (workflow.value && state.value ? glyphOfState(workflow.value, state.value) : 'custom'))

  return {
    task,
    workflow,
    state,
    workspace,
    moves: moves.data,
    start,
    glyph,
    ...useTaskLoad(taskId),
    ...useTaskActions(taskId),
  }
}

/** Loads the data of the panel, initially and whenever events may have been missed. */
function useTaskLoad(taskId: () => string) {
  const tasks = useTasks()
  const projects = useProjects()
  const executions = useExecutions()
  const reviews = useReviews()
  const comments = useComments()
  const failure = ref<unknown>(null)

  async function load(): Promise<void> {
    failure.value = null
    try {
      const known = tasks.byId.get(taskId()) ?? (await tasks.fetch(taskId()))
      await Promise.all([
        executions.load(taskId()),
        reviews.load(taskId()),
        comments.load(taskId()),
        projects.workflow(known.project_id) ? undefined : projects.loadWorkflow(known.project_id),
      ])
    } catch (error) {
      failure.value = error
    }
  }
  watch(taskId, load, { immediate: true })
  useWhenBack(() => void load())
  return { failure, load }
}

const failures: Readonly<Record<RecoveryAction, string>> = {
  retry_hook: 'Couldn’t retry the hook',
  skip_hook_once: 'Couldn’t skip the hook',
  resume: 'Couldn’t resume the agent',
  retry_execution: 'Couldn’t start the agent again',
  raise_limit: 'Couldn’t raise the limit',
  retry_merge: 'Merge failed',
  absorb_nested: 'Couldn’t take its files',
  ignore_nested: 'Couldn’t leave it out',
  take_work: 'Couldn’t take the work',
  leave_work: 'Couldn’t leave the work out',
  allow_start: 'Couldn’t start the agent',
}

/**
 * Returns the actions of the header. Each resolves to whether it succeeded; an error becomes a
 * toast.
 */
function useTaskActions(taskId: () => string) {
  const tasks = useTasks()
  const executions = useExecutions()
  const toasts = useToasts()
  const { busy, runOn } = useAction()
  const recovery = useAction<RecoveryAction>()

  async function stop(): Promise<void> {
    const task = tasks.byId.get(taskId())
    const running = task?.active_execution_id
    if (running) await runOn(task, 'Couldn’t stop the agent', () => executions.stop(running))
  }
  async function recover(action: RecoveryAction, reason?: string): Promise<void> {
    const task = tasks.byId.get(taskId())
    if (task) await recovery.runOn(task, failures[action], () => tasks.recover(task.id, action, reason), action)
  }

  return {
    busy,
    recovering: recovery.current,
    stop,
    recover,
    saveTitle: (title: string) => {
      const version = tasks.byId.get(taskId())?.version
      return toasts.attempt('Couldn’t save the title.', () =>
        tasks.update({ task_id: taskId(), title, ...(version === undefined ? {} : { version }) }),
      )
    },
  }
}
