import { expect, test } from 'vitest'
import { annotationTypes } from '../../../../src-shared/contract/tasks.ts'
import { clearAnnotation } from '../../../../src-main/domain/task/clear-annotation.ts'

const leftAfter = (by: 'run' | 'pass', hasPendingStep: boolean) =>
  annotationTypes.filter(
    (type) => clearAnnotation({ type, message: '', recovery_actions: [] }, by, hasPendingStep) !== null,
  )

test('an error stays until its cause is gone, whatever else happens to the task', () => {
  expect(leftAfter('run', false).toSorted()).toEqual(['merge_conflict', 'workspace_reset_required'])
  expect(leftAfter('run', true).toSorted()).toEqual(['hook_failed', 'merge_conflict', 'workspace_reset_required'])
  expect(leftAfter('pass', false).toSorted()).toEqual(['merge_conflict', 'workspace_error', 'workspace_reset_required'])
  expect(leftAfter('pass', true)).toContain('hook_failed')
  expect(clearAnnotation(null, 'run', true)).toBeNull()
})
