import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { Demo } from '../../stores/project/demo.ts'

/** Something to try in the demo, with the task at which to do it. */
export interface DemoStep {
  readonly label: string
  /** How it is done, in a sentence. */
  readonly hint: string
  readonly taskId: string
  /** Where in the task; by default where its news is. */
  readonly tab?: 'changes'
  readonly done: boolean
}

/** Returns the steps of the demo. What was done is seen from its tasks; a task that was deleted counts as done. */
export function demoSteps({ tasks }: Demo, taskOf: (id: string) => Task | undefined): readonly DemoStep[] {
  const asked = (task: Task | undefined) => task?.status !== 'in_progress'
  const sentBack = (task: Task | undefined) => (task?.review_summary?.attempt_number ?? 2) > 1
  const isDone = (id: string) => (taskOf(id)?.status ?? 'done') === 'done'
  return [
    {
      label: 'Answer the question',
      hint: 'An agent asks which currency to show. Press 1 or 2 on its card.',
      taskId: tasks.question,
      done: asked(taskOf(tasks.question)),
    },
    {
      label: 'Comment on a line',
      hint: 'The discount leaves a DEBUG line behind. Point at the line, comment, then press Request changes.',
      taskId: tasks.review,
      tab: 'changes',
      done: sentBack(taskOf(tasks.review)) || isDone(tasks.review),
    },
    {
      label: 'Let the agent resolve a conflict',
      hint: 'Two tasks changed the same greeting, and the other was merged first.',
      taskId: tasks.conflict,
      done: sentBack(taskOf(tasks.conflict)) || isDone(tasks.conflict),
    },
    {
      label: 'Merge one',
      hint: 'Read the changes, then press Merge. Undo takes it back.',
      taskId: tasks.question,
      done: [tasks.question, tasks.review, tasks.conflict].some(isDone),
    },
  ]
}
