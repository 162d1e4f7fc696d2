import { computed, ref, watch } from 'vue'
import type { RecoveryAction, TaskMove } from '../../../src-shared/contract/tasks.ts'
import type { MenuItem } from '../../components/AppMenu.vue'
import { useResource } from '../../composables/use-resource.ts'
import { useAgents } from '../../stores/agents.ts'
import { useExecutions } from '../../stores/executions.ts'
import { useLive } from '../../stores/live.ts'
import { useProjects } from '../../stores/projects.ts'
import { useReviews } from '../../stores/reviews.ts'
import { useTaskDetails } from '../../stores/task-details.ts'
import { useTasks } from '../../stores/tasks.ts'
import { useToasts } from '../../stores/toasts.ts'
import { glyphOfState, stateOf } from '../../stores/workflow-shape.ts'

/** The task, what belongs to it, and what can be done with it as a whole. */
export function useTaskPanel(taskId: () => string) {
  const tasks = useTasks()
  const projects = useProjects()
  const executions = useExecutions()
  const agents = useAgents()
  const toasts = useToasts()
  const live = useLive()
  const busy = ref(false)
  const recovering = ref<RecoveryAction | null>(null)
  const failure = ref<unknown>(null)

  const task = computed(() => tasks.byId.get(taskId()) ?? null)
  const workflow = computed(() => (task.value ? projects.workflow(task.value.project_id) : undefined))
  const state = computed(() => stateOf(workflow.value, task.value?.status ?? ''))
  const details = useTaskDetails()
  const workspace = useResource(() => details.workspace(taskId()))
  const moves = useResource<readonly TaskMove[]>(() => tasks.moves(taskId()))

  async function load(): Promise<void> {
    failure.value = null
    try {
      const known = tasks.byId.get(taskId()) ?? (await tasks.fetch(taskId()))
      await Promise.all([
        executions.load(taskId()),
        useReviews().load(taskId()),
        projects.workflow(known.project_id) ? undefined : projects.loadWorkflow(known.project_id),
      ])
    } catch (error) {
      failure.value = error
    }
  }
  watch(taskId, load, { immediate: true })
  // What happened while the connection was away came with no event.
  watch(
    () => live.connection.state,
    (now, before) => {
      if (now === 'live' && before === 'reconnecting') void load()
    },
  )
  watch(
    [taskId, () => task.value?.version, () => task.value?.status, () => task.value?.active_execution_id],
    () => void Promise.all([workspace.reload(), moves.reload()]),
    { immediate: true },
  )

  async function attempt(context: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      toasts.refused(error, context)
      return false
    }
  }
  async function busily(context: string, work: () => Promise<unknown>): Promise<boolean> {
    if (busy.value) return false
    busy.value = true
    try {
      return await attempt(context, work)
    } finally {
      busy.value = false
    }
  }

  const agentItems = computed<MenuItem[]>(() =>
    agents.items.map((agent) => ({ id: agent.id, label: agent.name, refused: agent.paused ? 'Paused' : null })),
  )
  const start = computed(() => {
    const kind = state.value?.kind
    if (task.value === null || task.value.active_execution_id !== null) return null
    if (kind !== 'backlog' && kind !== 'initial' && kind !== 'active') return null
    return { refused: live.offline ? 'Changes are off until the connection is back.' : null }
  })

  function move(to: string): Promise<boolean> {
    const chosen = moves.value.value?.find((candidate) => candidate.to === to)
    return busily('The task stays where it is.', async () => {
      if (chosen?.via === 'cancel') await tasks.cancel(taskId())
      else if (chosen?.via === 'claim') await tasks.claim(taskId())
      else if (chosen?.via === 'verdict_fail') await tasks.verdict(taskId(), 'fail')
      else await tasks.transition(taskId(), to)
    })
  }
  async function recover(action: RecoveryAction, reason?: string): Promise<void> {
    if (recovering.value !== null) return
    recovering.value = action
    await attempt('It did not work.', () => tasks.recover(taskId(), action, reason))
    recovering.value = null
  }

  return {
    task,
    workflow,
    state,
    workspace,
    moves,
    failure,
    busy,
    recovering,
    agentItems,
    start,
    load,
    move,
    recover,
    glyph: computed(() => (workflow.value && state.value ? glyphOfState(workflow.value, state.value) : 'custom')),
    startWith: (agentId: string) => busily('The agent did not start.', () => tasks.claim(taskId(), agentId)),
    stop: () =>
      busily('The agent was not stopped.', async () => {
        const running = task.value?.active_execution_id
        if (running) await executions.stop(running)
      }),
    saveTitle: (title: string) =>
      attempt('The title was not saved.', () =>
        tasks.update({ task_id: taskId(), title, ...(task.value ? { version: task.value.version } : {}) }),
      ),
  }
}
