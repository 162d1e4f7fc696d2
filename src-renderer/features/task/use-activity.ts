import { computed } from 'vue'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import type { Workspace } from '../../../src-shared/contract/workspaces.ts'
import { useNow } from '../../composables/use-now.ts'
import { useQuery, useTaskInvalidation } from '../../stores/base/query.ts'
import { budgetAfter } from '../../model/retry-budget.ts'
import { isDoneState, stateFace, stateOf } from '../../model/workflow-shape.ts'
import { useComments } from '../../stores/review/comments.ts'
import { useExecutions } from '../../stores/runs/executions.ts'
import { useHooks } from '../../stores/project/hooks.ts'
import { usePeople } from '../../stores/people/people.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useReviews } from '../../stores/review/reviews.ts'
import { useTaskDetails } from '../../stores/review/task-details.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import { activityItems } from './activity-items.ts'
import type { Names } from './activity-line.ts'
import { runSums, sumOf, timeInStates } from './activity-summary.ts'
import { nextStepText } from './next-step-text.ts'

const MOST_RUNS = 200

interface Subject {
  readonly task: Task
  readonly workflow: WorkflowDefinition | undefined
  readonly workspace: Workspace | null
}

/** Returns the timeline of a task with its totals and the next step. */
export function useActivity(subject: () => Subject) {
  const details = useTaskDetails()
  const hooks = useHooks()
  const news = useTaskInvalidation()
  const task = computed(() => subject().task)
  const read = useQuery(
    async () => {
      const { id } = task.value
      const [transitions, runs] = await Promise.all([details.transitions(id), hooks.runs(id, MOST_RUNS)])
      return { transitions, hooks: runs }
    },
    () => {
      const { id, version, status } = task.value
      return ['activity', id, version, status, news.changesOf(id, 'timeline')]
    },
  )
  const transitions = computed(() => read.data.value?.transitions ?? [])
  const executions = computed(() => useExecutions().byTask(task.value.id))
  const reviews = computed(() => useReviews().byTask(task.value.id))
  const comments = computed(() =>
    useComments()
      .threads(task.value.id)
      .flatMap(({ root, answers }) => [root, ...answers]),
  )
  const items = computed(() =>
    read.data.value === null
      ? []
      : activityItems({
          task: task.value,
          transitions: transitions.value,
          hooks: read.data.value.hooks,
          executions: executions.value,
          reviews: reviews.value,
          comments: comments.value,
          workspace: subject().workspace,
          workflow: subject().workflow,
        }),
  )
  const names = useNames(() => ({ ...subject(), transitions: transitions.value }))
  return {
    read: read.data,
    failure: read.error,
    reload: read.reload,
    items,
    names,
    ...useSummary(subject, { executions, transitions, reviews }, names),
  }
}

type Known<T> = { readonly value: readonly T[] }

function useNames(known: () => Subject & { readonly transitions: Parameters<typeof budgetAfter>[0] }): Names {
  const people = usePeople()
  return {
    actor: people.actor,
    author: people.author,
    worker: people.worker,
    state: (name) => stateFace(known().workflow, name),
    rejections(transitionId) {
      const { transitions, workflow } = known()
      const at = transitions.findIndex(({ id }) => id === transitionId)
      const budget = budgetAfter(transitions.slice(0, at + 1), stateOf(workflow, transitions[at]?.from_state ?? ''))
      return budget && budget.used > 0 ? budget : null
    },
  }
}

function useSummary(
  subject: () => Subject,
  known: {
    readonly executions: Known<Execution>
    readonly transitions: { readonly value: Parameters<typeof timeInStates>[0] }
    readonly reviews: Known<ReturnType<ReturnType<typeof useReviews>['byTask']>[number]>
  },
  names: Names,
) {
  const now = useNow()
  const tasks = useTasks()
  const projects = useProjects()
  const people = usePeople()
  const times = computed(() => {
    const { task, workflow } = subject()
    return workflow ? timeInStates(known.transitions.value, task.created_at, task.status, workflow, now.value) : []
  })
  const sums = computed(() =>
    runSums(known.executions.value, (execution) => names.worker(execution).name).map((sum) => {
      const role = subject().workflow?.roles?.find(({ name }) => name === sum.role)?.label ?? sum.role
      return { ...sum, label: `${role}, ${sum.name}` }
    }),
  )
  const next = computed(() => {
    const { task, workflow } = subject()
    if (!workflow) return null
    const state = stateOf(workflow, task.status)
    const holder = task.roles[state?.role ?? 'assignee']
    const repos = projects.byId.get(task.project_id)?.repos ?? []
    return nextStepText({
      task,
      workflow,
      execution: known.executions.value.find(({ id }) => id === task.active_execution_id) ?? null,
      review: known.reviews.value[0] ?? null,
      waits: task.dependencies
        .flatMap((id) => tasks.byId.get(id) ?? [])
        .filter((one) => !isDoneState(workflow, one.status)).length,
      target: repos.find(({ id }) => id === task.repo_id)?.default_branch ?? 'the base branch',
      agent: holder?.type === 'agent' ? people.face(holder).name : null,
    })
  })
  return { times, sums, total: computed(() => sumOf(known.executions.value)), next }
}
