import { expect, test } from 'vitest'
import { openingTab } from '../../../../src-renderer/features/task/panel-keys.ts'
import { ids } from '../../../helpers/task-panel-ids.ts'
import { taskOf } from '../task-fixture.ts'

test('opens a task at its agent, its decision or its overview', () => {
  const conflict = { type: 'merge_conflict' as const, message: 'No.', recovery_actions: ['retry_merge' as const] }
  expect(openingTab(taskOf(1, { active_execution_id: ids.running }), 'gate')).toBe('agent')
  expect(openingTab(taskOf(1), 'gate')).toBe('review')
  expect(openingTab(taskOf(1, { error_annotation: conflict }), 'custom')).toBe('review')
  expect(openingTab(taskOf(1), 'initial')).toBe('overview')
  expect(openingTab(null, undefined)).toBe('overview')
})
