import { computed, reactive, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import type { TaskTemplate } from '../../../src-shared/contract/task-templates.ts'
import { executorInfos } from '../../../src-shared/contract/executor-profiles.ts'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import type { Runner } from '../../../src-shared/contract/runners.ts'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Assignee, Task } from '../../../src-shared/contract/tasks.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { WorkflowDefinition, WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { workRoles } from './work-roles.ts'
import { useAgents } from '../../stores/agents/agents.ts'
import { useRunners } from '../../stores/agents/runners.ts'
import { useArrivals } from '../../stores/tasks/arrivals.ts'
import { useAction } from '../../stores/base/query.ts'
import { useDrafts } from '../../stores/base/drafts.ts'
import { useNavigation } from '../../stores/base/navigation.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useAgentChoice } from '../../stores/agent-choice.ts'
import { useShortcuts } from '../../stores/device/shortcuts.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import { useToasts } from '../../stores/base/toasts.ts'
import { assigneesOf, fillDraft, readTemplate, templateFields, type TemplateDraft } from './template-draft.ts'
import { emptyDraft, optionsText, readOptions, taskInput, type TaskDraft } from './task-draft.ts'

/** The draft of a task with its actions. */
export interface NewTask {
  readonly draft: TaskDraft
  readonly agents: ComputedRef<readonly Agent[]>
  /** The possible initial states. */
  readonly states: ComputedRef<readonly WorkflowState[]>
  /** The roles except the working one. */
  readonly otherRoles: ComputedRef<WorkflowDefinition['roles']>
  /** The checks of the project. */
  readonly defaultSteps: ComputedRef<readonly string[]>
  readonly busy: Readonly<Ref<boolean>>
  readonly failure: Readonly<Ref<string | null>>
  /** Restores the unsent draft, in the given state or the initial one. */
  readonly reset: (status: string | null) => void
  /** Creates the task. `more` keeps the dialog open. Resolves to whether it was created. */
  readonly create: (how: { readonly start: boolean; readonly more: boolean }) => Promise<boolean>
  /** Creates a task per title with the same options. Resolves to whether they were created. */
  readonly createMany: (titles: readonly string[]) => Promise<boolean>
  /** The template chosen last. */
  readonly template: Readonly<ShallowRef<TaskTemplate | null>>
  /** Fills the draft from a template; null clears what the previous one filled. */
  readonly fill: (template: TaskTemplate | null) => void
  /** Returns the draft as a template stores it. */
  readonly asTemplate: () => ReturnType<typeof templateFields>
  /** Returns the input of the prompt preview. */
  readonly promptInput: () => OperationInput<'tasks.draft_prompt'>
  readonly workingRole: ComputedRef<string>
  /** The agent that starts if none is chosen explicitly: the chosen one, else the likeliest that can run. */
  readonly starter: ComputedRef<Agent | null>
  readonly startRefusal: ComputedRef<string | null>
  /** The runners that the chosen agent can start on; none where there is no choice. */
  readonly places: ComputedRef<readonly Runner[]>
  /** Checks which agents can run; until it returns, their last known state counts. */
  readonly checkAgents: () => void
  /** Clears the draft. */
  readonly throwAway: () => void
}

/** Returns the draft of a task with its actions. */
export function useNewTask(projectId: () => string): NewTask {
  const agents = useAgents()
  const runners = useRunners()
  const navigation = useNavigation()
  const projects = useProjects()
  const tasks = useTasks()
  const handOver = useHandOver(projectId)
  const arrivals = useArrivals()
  const { usual: usualAgent } = useAgentChoice(projectId)
  const shortcuts = useShortcuts()
  const toasts = useToasts()
  const { busy, failure, run } = useAction()
  const draft = reactive(emptyDraft(null))
  // The text outlives the dialog and the page, until the task is created or the draft is discarded.
  const drafts = useDrafts()
  watch(
    () => [draft.title, draft.description],
    ([title, description]) => {
      drafts.keep('new-task title', title || null)
      drafts.keep('new-task description', description || null)
    },
  )
  const optionsKey = () => `new-task/${projectId()}`
  watch(
    () => optionsText(draft),
    (text) => drafts.keep(optionsKey(), text),
  )
  const areTasksLoaded = () => tasks.loadState(projectId()).kind === 'ready'
  /** Removes choices that no longer exist, as far as their lists are loaded. */
  function removeMissingChoices(): void {
    const isHere = (one: Assignee) => one.type !== 'agent' || agents.byId.has(one.id)
    if (agents.loaded) {
      if (draft.agentId !== null && !agents.byId.has(draft.agentId)) draft.agentId = null
      draft.roles = Object.fromEntries(Object.entries(draft.roles).filter(([, one]) => isHere(one)))
    }
    if (areTasksLoaded()) draft.waitsFor = draft.waitsFor.filter((id) => tasks.byId.has(id))
  }
  watch(() => [agents.loaded, agents.items, areTasksLoaded()], removeMissingChoices)
  const { template, fill, refill } = useTemplate(draft, () => workingRole(projects.workflow(projectId())))
  function throwAway(): void {
    template.value = null
    Object.assign(draft, emptyDraft(draft.status))
  }
  const states = computed(() =>
    (projects.workflow(projectId())?.states ?? []).filter(
      (state) => state.kind === 'backlog' || state.kind === 'initial',
    ),
  )

  const starter = computed(() => {
    const chosen = agents.byId.get(draft.agentId ?? '')
    return chosen ?? usualAgent.value
  })
  const startRefusal = computed((): string | null => {
    if (draft.waitsFor.length > 0) return 'It waits for other tasks first'
    const { value: agent } = starter
    if (agent === null) return noStarterText(agents.items)
    if (agent.paused) return `${agent.name} is paused`
    return agents.signIns.get(agent.id)?.installed === false ? `${agent.name} isn’t installed` : null
  })

  const places = computed(() => {
    const agent = agents.byId.get(draft.agentId ?? '')
    const isCarried = agent?.daemon_id === null && executorInfos[agent.executor].location === 'local'
    const found = isCarried ? runners.ofProject(projectId()) : []
    return found.length > 1 ? found : []
  })
  // What can't be seen is not chosen.
  watch(places, (now) => {
    if (!now.some(({ id }) => id === draft.runnerId)) draft.runnerId = ''
  })

  async function create(how: { readonly start: boolean; readonly more: boolean }): Promise<boolean> {
    return run(async () => {
      const chosen = { ...draft }
      // A runner is chosen for the start that the dialog shows.
      if (!chosen.startNow) chosen.runnerId = ''
      if (how.start) Object.assign(chosen, { agentId: starter.value?.id ?? null, startNow: true })
      const task = await tasks.create(taskInput(projectId(), chosen))
      const isComplete = await handOver(task.id, chosen)
      nextDraft(how.more)
      if (!('taskId' in navigation.route)) navigation.openProject(projectId())
      const { route } = navigation
      const isElsewhere = 'projectId' in route && route.projectId !== projectId()
      const open = () => navigation.go({ screen: 'board', projectId: projectId(), taskId: task.id, tab: null })
      const text = createdText(task, chosen, !isElsewhere && !how.more)
      if (isComplete) toasts.doneUntilRun(task, text, { label: 'Open', run: open })
      arrivals.announce(task.id, !how.more && !isElsewhere)
    })
  }
  async function createMany(titles: readonly string[]): Promise<boolean> {
    return run(async () => {
      const chosen = { ...draft }
      const { project_id, description: _, ...usual } = taskInput(projectId(), chosen)
      const items = titles.map((title) => ({ ...usual, title, depends_on: [...chosen.waitsFor] }))
      const created = await tasks.createMany({ project_id, items })
      let isComplete = true
      for (const { id, title } of created) {
        isComplete &&= await handOver(id, {
          ...chosen,
          title,
          waitsFor: [],
          startNow: chosen.startNow && chosen.waitsFor.length === 0,
        })
      }
      throwAway()
      if (!('taskId' in navigation.route)) navigation.openProject(projectId())
      if (isComplete) toasts.done(`Created ${created.length} tasks.`)
    })
  }
  /** Returns the text of the toast. `inHand`: the board focuses the new task. */
  function createdText(task: Task, { agentId, startNow, waitsFor }: TaskDraft, inHand: boolean): string {
    const worker = agents.byId.get(agentId ?? '')
    const starts = worker !== undefined && startNow && waitsFor.length === 0
    if (starts) return `Created ${task.ref}. ${worker.name} starts on it.`
    const key = shortcuts.line('start')
    return key === '' || waitsFor.length > 0 || !inHand
      ? `Created ${task.ref}.`
      : `Created ${task.ref}. ${key} starts it.`
  }
  /** Resets the draft. With `more` only the text is cleared and the options stay. */
  function nextDraft(more: boolean): void {
    if (!more) return throwAway()
    Object.assign(draft, { title: '', description: '', waitsFor: [] })
    refill()
  }
  return {
    draft,
    agents: computed(() => agents.items),
    states,
    otherRoles: computed(() => workRoles(projects.workflow(projectId())).others),
    defaultSteps: computed(() => projects.settings(projectId())?.default_review_config.ci_steps ?? []),
    busy,
    failure,
    reset(status: string | null): void {
      const usual = states.value.find((state) => state.kind === 'initial')?.name ?? null
      template.value = null
      Object.assign(draft, emptyDraft(status ?? usual), readOptions(drafts.get(optionsKey())), {
        title: drafts.get('new-task title') ?? '',
        description: drafts.get('new-task description') ?? '',
      })
      removeMissingChoices()
      failure.value = null
    },
    create,
    createMany,
    template,
    fill,
    asTemplate: () => templateFields(draft, workingRole(projects.workflow(projectId()))),
    promptInput: () => ({
      ...taskInput(projectId(), draft),
      roles: assigneesOf(draft, workingRole(projects.workflow(projectId()))),
      dependencies: [...draft.waitsFor],
    }),
    workingRole: computed(() => workingRole(projects.workflow(projectId()))),
    starter,
    startRefusal,
    places,
    checkAgents: () => void agents.checkSignIns().catch(() => undefined),
    throwAway,
  }
}

/** Returns actions that fill a draft from templates; the person's own input stays. */
function useTemplate(draft: TaskDraft, role: () => string) {
  const template = shallowRef<TaskTemplate | null>(null)
  const read = (): TemplateDraft | null => template.value && readTemplate(template.value, role())
  return {
    template,
    fill(next: TaskTemplate | null): void {
      const before = read()
      template.value = next
      Object.assign(draft, fillDraft(draft, read(), before))
    },
    refill: () => void Object.assign(draft, fillDraft(draft, read())),
  }
}

/** Says why none of the agents starts without being named. */
function noStarterText(agents: readonly Agent[]): string {
  if (agents.length === 0) return 'There is no agent yet'
  return agents.every(({ paused }) => paused) ? 'Every agent is paused' : 'No agent is installed and signed in'
}

/** Returns the role that works on a task first. */
const workingRole = (workflow: WorkflowDefinition | undefined): string => workRoles(workflow).working

/**
 * Returns a function that assigns roles, sets dependencies and starts the chosen agent, at once or
 * later. The task stays if a step fails. Resolves to whether all steps succeeded.
 */
function useHandOver(projectId: () => string): (taskId: string, draft: TaskDraft) => Promise<boolean> {
  const projects = useProjects()
  const tasks = useTasks()
  const toasts = useToasts()
  return async (taskId, chosen) => {
    const { agentId, startNow, runnerId, title, waitsFor } = chosen
    const overrides = runnerId === '' ? undefined : { runner_ids: [runnerId as RunnerId] }
    const role = workingRole(projects.workflow(projectId()))
    const { [role]: worker, ...roles } = assigneesOf(chosen, role)
    let missing = 'it doesn’t have everything you chose'
    try {
      for (const id of waitsFor) await tasks.addDependency(taskId, id)
      for (const [role, to] of Object.entries(roles)) await tasks.giveRole(taskId, role, to)
      missing = 'no one works on it'
      if (agentId !== null && startNow && waitsFor.length === 0) await tasks.claim(taskId, agentId, overrides)
      else if (worker) await tasks.giveRole(taskId, role, worker)
      return true
    } catch (error) {
      toasts.refused(error, `“${title.trim()}” is there, but ${missing}.`)
      return false
    }
  }
}
