import { describe, expect, test } from 'vitest'
import { resetPlan } from '../../../../src-renderer/features/workspace/reset-plan.ts'
import type { ErrorAnnotation, Task } from '../../../../src-shared/contract/tasks.ts'
import type { Workspace } from '../../../../src-shared/contract/workspaces.ts'
import { panelData, workflow } from '../../../helpers/task-panel-data.ts'

const data = panelData(Date.parse('2026-11-21T09:00:00.000Z'))
const plan = (task: Partial<Task> = {}, workspace: Partial<Workspace> | null = {}) =>
  resetPlan({ ...data.task, ...task }, workspace && { ...data.workspace, ...workspace }, workflow)

describe('the reset of a worktree', () => {
  test('says what is removed and where the task goes', () => {
    expect(plan()).toEqual({
      kind: 'fresh',
      role: 'coder',
      loses: '4 commits and uncommitted changes',
      to: 'To do',
      refusal: null,
    })
    expect(plan({}, { ahead: 1, dirty: false })).toMatchObject({ loses: '1 commit' })
    expect(plan({}, { ahead: 0, dirty: false })).toMatchObject({ loses: null })
  })
  test('leaves a queued task where it is', () => {
    expect(plan({ status: 'todo' })).toMatchObject({ to: null })
  })
  test('is refused if no one has worked', () => {
    expect(plan({ roles: {} })).toMatchObject({ refusal: 'No one has worked on this yet.' })
  })
  test('is offered when worktree and branch are gone', () => {
    const gone = { type: 'workspace_reset_required', message: 'Gone.', recovery_actions: [] } satisfies ErrorAnnotation
    expect(plan({ error_annotation: gone }, null)).toEqual({ kind: 'gone' })
  })
  test('is not offered without a worktree, for another task’s, or for a finished task', () => {
    expect(plan({}, null)).toBeNull()
    expect(plan({}, { status: 'cleaned' })).toBeNull()
    expect(plan({}, { task_id: data.task.id.replace('40', '41') as Workspace['task_id'] })).toBeNull()
    expect(plan({ status: 'done' })).toBeNull()
  })
})
