import { expect, test } from 'vitest'
import { annotationTypes } from '../../../../src-shared/contract/tasks.ts'
import { clearAnnotation } from '../../../../src-main/tasks/rules/clear-annotation.ts'

const leftAfter = (by: 'run' | 'pass', hasPendingStep: boolean) =>
  annotationTypes.filter(
    (type) => clearAnnotation({ type, message: '', recovery_actions: [] }, by, hasPendingStep) !== null,
  )

test('keeps an error until its cause is gone', () => {
  // What became of a pull request stays, whoever works on the task since.
  const ofPulls = ['pull_request_closed', 'pull_request_diverged', 'pull_request_merged']
  expect(leftAfter('run', false).toSorted()).toEqual(['merge_conflict', ...ofPulls, 'workspace_reset_required'])
  const ofSteps = ['hook_failed', 'nested_repository', 'submodule_not_pushed', 'work_elsewhere']
  expect(leftAfter('run', true).toSorted()).toEqual(
    [...ofSteps, ...ofPulls, 'merge_conflict', 'workspace_reset_required'].toSorted(),
  )
  expect(leftAfter('pass', false).toSorted()).toEqual([
    'merge_conflict',
    ...ofPulls,
    'workspace_error',
    'workspace_reset_required',
  ])
  expect(leftAfter('pass', true)).toEqual(expect.arrayContaining(ofSteps))
  expect(clearAnnotation(null, 'run', true)).toBeNull()
})
