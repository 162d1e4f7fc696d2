import { computed, ref, watch, type ComputedRef, type Ref } from 'vue'
import type { GlyphName } from '../../components/state-glyphs.ts'
import { glyphOfState, stateOf } from '../../model/workflow-shape.ts'
import { useComments } from '../../stores/review/comments.ts'
import { useExecutions } from '../../stores/runs/executions.ts'
import { useLive, useWhenBack } from '../../stores/live.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useReviews } from '../../stores/review/reviews.ts'
import { useTaskQueries } from '../../stores/review/task-details.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import type { RecoveryAction, Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition, WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { useAction } from '../../stores/base/query.ts'
import { useToasts } from '../../stores/base/toasts.ts'
import { hasEndedEarly } from './condition.ts'

/** The task of a panel with its related data and actions. */
export interface TaskPanelData {
  readonly task: ComputedRef<Task | null>
  readonly workflow: ComputedRef<WorkflowDefinition | undefined>
  readonly state: ComputedRef<WorkflowState | undefined>
  readonly workspace: ReturnType<typeof useTaskQueries>['workspace']
  readonly moves: ReturnType<typeof useTaskQueries>['moves']['data']
  /** null if the state doesn't offer it. */
  readonly start: ComputedRef<{ readonly refused: string | null } | null>
  readonly glyph: ComputedRef<GlyphName>
  /** The error of loading. */
  readonly failure: Readonly<Ref<unknown>>
  readonly load: () => Promise<void>
  readonly busy: Readonly<Ref<boolean>>
  /** The recovery action in progress. */
  readonly recovering: Readonly<Ref<RecoveryAction | null>>
  readonly stop: () => Promise<void>
  readonly recover: (action: RecoveryAction, reason?: string) => Promise<void>
  readonly saveTitle: (title: string) => Promise<boolean>
}

/** Returns the task with its related data and actions. */
export function useTaskPanel(taskId: () => string): TaskPanelData {
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
  finish: 'Couldn’t finish',
  new_pull_request: 'Couldn’t open a pull request',
  reopen_pull_request: 'Couldn’t reopen it',
  fix_again: 'Couldn’t start another round',
  take_theirs: 'Couldn’t take theirs',
  keep_ours: 'Couldn’t keep yours',
}

/** Returns the actions of the header. An error becomes a toast. */
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
    async saveTitle(title: string): Promise<boolean> {
      const task = tasks.byId.get(taskId())
      if (!task) return false
      const { id, version } = task
      return toasts.attemptOn(task, 'Couldn’t save the title', () => tasks.update({ task_id: id, title, version }))
    },
  }
}
