import { computed, type Ref } from 'vue'
import { retryBudget } from '../../model/retry-budget.ts'
import { stateOf } from '../../model/workflow-shape.ts'
import { useFeedbackDraft } from '../../stores/drafts.ts'
import { useProjects } from '../../stores/projects.ts'
import { useReviews } from '../../stores/reviews.ts'
import { useTaskQueries } from '../../stores/task-details.ts'
import { useTasks } from '../../stores/tasks.ts'
import { decisionState } from './decision-state.ts'
import { useDecisionActions } from './use-decision-actions.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { useQuery, useTaskInvalidation } from '../../stores/query.ts'
import { useBranchUpdates } from '../../stores/branch-updates.ts'

/** Everything that the review pane knows and does for one task. */
export function useReview(taskId: () => string) {
  const tasks = useTasks()
  const projects = useProjects()
  const reviews = useReviews()
  const feedback = useFeedbackDraft(taskId)

  const task = computed(() => tasks.byId.get(taskId()) ?? null)
  const project = computed(() => (task.value ? (projects.byId.get(task.value.project_id) ?? null) : null))
  const workflow = computed(() => (task.value ? projects.workflow(task.value.project_id) : undefined))
  const state = computed(() => (workflow.value && task.value ? stateOf(workflow.value, task.value.status) : undefined))
  const attempts = computed(() => reviews.byTask(taskId()))
  const branch = computed(() => {
    const repo = project.value?.repos.find((candidate) => candidate.id === task.value?.repo_id)
    return repo?.default_branch ?? 'the base branch'
  })

  const { moves, workspace } = useTaskQueries(taskId)
  const { conflicts } = useConflictCount(task, () => state.value?.kind === 'terminal')

  const isKnown = computed(() => reviews.isKnown(taskId()))
  /** What a step on is made of depends on whether the newest attempt has passed: that has to be known. */
  const decision = computed(() =>
    task.value && workflow.value && isKnown.value
      ? decisionState({
          task: task.value,
          workflow: workflow.value,
          reviews: attempts.value,
          moves: moves.data.value ?? [],
          feedback: feedback.value,
          target_branch: branch.value,
        })
      : null,
  )
  const budget = computed(() => (task.value ? retryBudget(task.value, workflow.value) : null))

  return {
    task,
    workflow,
    attempts,
    isKnown,
    branch,
    decision,
    budget,
    workspace: workspace.data,
    conflicts,
    feedback,
    settings: computed(() => (task.value ? projects.settings(task.value.project_id) : undefined)),
    ...useDecisionActions(taskId, { decision, feedback, branch, workflow }),
  }
}

/** In how many files the task's branch would conflict now; null while that is not known, and where nobody will merge it. */
function useConflictCount(task: Readonly<Ref<Task | null>>, isOver: () => boolean) {
  const updates = useBranchUpdates()
  const news = useTaskInvalidation()
  const { data, error } = useQuery(
    async () => (task.value ? updates.conflicts(task.value.id) : null),
    () => {
      const known = task.value
      if (known === null || isOver()) return null
      return ['conflict count', known.id, known.status, known.version, news.changesOf(known.id, 'workspace')]
    },
  )
  // Without a branch there is nothing to say; the reason stands elsewhere.
  return { conflicts: computed(() => (error.value ? null : (data.value?.files.length ?? null))) }
}
