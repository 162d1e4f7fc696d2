import { computed } from 'vue'
import { retryBudget } from '../../model/retry-budget.ts'
import type { DecisionAction } from '../../model/decision.ts'
import { useDecision, useDecisionDeeds } from '../../stores/review/decisions.ts'
import { useFeedbackDraft } from '../../stores/base/drafts.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useReviews } from '../../stores/review/reviews.ts'
import { useTaskQueries } from '../../stores/review/task-details.ts'

/** Returns the data and actions of a task's review pane. */
export function useReview(taskId: () => string) {
  const projects = useProjects()
  const reviews = useReviews()
  const deeds = useDecisionDeeds()
  const feedback = useFeedbackDraft(taskId)
  const { task, workflow, state, branch, conflicts, decision } = useDecision(taskId)
  const { workspace } = useTaskQueries(taskId)

  /** Performs an action with the typed feedback, which stays if the request fails. */
  async function perform(action: DecisionAction): Promise<void> {
    if (task.value === null) return
    const text = feedback.value.trim()
    const takesText = action.deed.kind === 'reject' || action.deed.kind === 'approve' || action.deed.kind === 'advance'
    const isDone = await deeds.perform(task.value, action, takesText && text !== '' ? text : undefined)
    if (isDone && takesText) feedback.value = ''
  }
  return {
    task,
    workflow,
    state,
    attempts: computed(() => reviews.byTask(taskId())),
    isKnown: computed(() => reviews.isKnown(taskId())),
    branch,
    decision,
    budget: computed(() => (task.value ? retryBudget(task.value, workflow.value) : null)),
    workspace: workspace.data,
    conflicts,
    feedback,
    settings: computed(() => (task.value ? projects.settings(task.value.project_id) : undefined)),
    busy: computed(() => deeds.busyWith(taskId())),
    perform,
  }
}
