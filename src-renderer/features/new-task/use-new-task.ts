import { computed, reactive, ref } from 'vue'
import { useAgents } from '../../stores/agents.ts'
import { errorSentence } from '../../stores/error-sentence.ts'
import { useNavigation } from '../../stores/navigation.ts'
import { useProjects } from '../../stores/projects.ts'
import { useTasks } from '../../stores/tasks.ts'
import { useToasts } from '../../stores/toasts.ts'

/** The commands of a text field, one a line. */
export function stepsOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** The draft of a task, and its way to the service. */
export function useNewTask(projectId: () => string) {
  const agents = useAgents()
  const navigation = useNavigation()
  const projects = useProjects()
  const tasks = useTasks()
  const toasts = useToasts()
  const busy = ref(false)
  const failure = ref<string | null>(null)
  const draft = reactive({
    title: '',
    description: '',
    steps: '',
    status: null as string | null,
    priority: 0,
    agentId: null as string | null,
    startNow: true,
  })
  const states = computed(() =>
    (projects.workflow(projectId())?.states ?? []).filter(
      (state) => state.kind === 'backlog' || state.kind === 'initial',
    ),
  )

  /** The role of the first state in which somebody works. */
  const workingRole = computed(
    () => projects.workflow(projectId())?.states.find((state) => state.kind === 'active')?.role ?? 'assignee',
  )

  function reset(status: string | null): void {
    const usual = states.value.find((state) => state.kind === 'initial')?.name ?? null
    Object.assign(draft, {
      title: '',
      description: '',
      steps: '',
      priority: 0,
      status: status ?? usual,
      agentId: null,
      startNow: true,
    })
    failure.value = null
  }
  /** Gives the task to the chosen agent, at once or for later; the task is there even where that fails. */
  async function handOver(taskId: string, title: string): Promise<void> {
    const agentId = draft.agentId
    if (agentId === null) return
    try {
      if (draft.startNow) await tasks.claim(taskId, agentId)
      else await tasks.assignRole(taskId, workingRole.value, agentId)
    } catch (error) {
      toasts.refused(error, `“${title}” is there, but nobody works on it.`)
    }
  }
  async function create(): Promise<boolean> {
    busy.value = true
    failure.value = null
    const steps = stepsOf(draft.steps)
    try {
      const task = await tasks.create({
        project_id: projectId(),
        title: draft.title.trim(),
        priority: draft.priority,
        ...(draft.description.trim() === '' ? {} : { description: draft.description }),
        ...(draft.status === null ? {} : { status: draft.status }),
        ...(steps.length === 0 ? {} : { review_config: { ci_steps: steps } }),
      })
      await handOver(task.id, task.title)
      if (navigation.route.screen !== 'board') navigation.openProject(projectId())
      return true
    } catch (error) {
      failure.value = errorSentence(error)
      return false
    } finally {
      busy.value = false
    }
  }
  return {
    draft,
    agents: computed(() => agents.items),
    states,
    defaultSteps: computed(() => projects.settings(projectId())?.default_review_config.ci_steps ?? []),
    busy,
    failure,
    reset,
    create,
  }
}
