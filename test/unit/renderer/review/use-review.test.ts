import { afterEach, expect, test, vi } from 'vitest'
import { useReview } from '../../../../src-renderer/features/review/use-review.ts'
import { useProjects } from '../../../../src-renderer/stores/project/projects.ts'
import { useReviews } from '../../../../src-renderer/stores/review/reviews.ts'
import { useTasks } from '../../../../src-renderer/stores/tasks/tasks.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import { withService } from '../renderer-app.ts'
import { taskOf } from '../task-fixture.ts'
import { workflow } from '../../../helpers/task-panel-data.ts'

afterEach(() => void vi.unstubAllGlobals())

test('shows no decision before the attempts are loaded', async () => {
  const task = taskOf(1, { status: 'review' })
  const passed = { id: 'r1', task_id: task.id, attempt_number: 1, status: 'passed', ci_steps: [], step_results: [] }
  const elsewhere = () => {
    throw new ApiError({ code: 'not_found', message: 'Not here.' })
  }
  const answers = {
    'tasks.reviews': () => ({ items: [{ ...passed, verdicts: [] }] }),
    'tasks.moves': () => ({ items: [] }),
    'tasks.workspace': elsewhere,
    'tasks.conflicts': elsewhere,
    'projects.get_workflow': () => workflow,
  }
  const { used, end } = withService(answers, () => ({
    review: useReview(() => task.id),
    reviews: useReviews(),
    tasks: useTasks(),
    projects: useProjects(),
  }))
  await used.projects.loadWorkflow(task.project_id)
  used.tasks.put(task)
  expect(used.review.decision.value).toBeNull()
  await used.reviews.load(task.id)
  expect(used.review.decision.value?.primary).toMatchObject({
    refused: null,
    deed: { merges: true, steps: ['transition'] },
  })
  end()
})
