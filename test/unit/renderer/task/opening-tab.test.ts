import { expect, test } from 'vitest'
import { openingTab } from '../../../../src-renderer/features/task/panel-keys.ts'
import type { ErrorAnnotation } from '../../../../src-shared/contract/tasks.ts'
import { ids } from '../../../helpers/task-panel-ids.ts'
import { taskOf } from '../task-fixture.ts'

test('opens a task at its agent, its decision or its overview', () => {
  const conflict = { type: 'merge_conflict' as const, message: 'No.', recovery_actions: ['retry_merge' as const] }
  expect(openingTab(taskOf(1, { active_execution_id: ids.running }), 'gate')).toBe('agent')
  expect(openingTab(taskOf(1), 'gate')).toBe('review')
  expect(openingTab(taskOf(1, { error_annotation: conflict }), 'custom')).toBe('review')
  expect(openingTab(taskOf(1), 'initial')).toBe('overview')
  const failing = (type: ErrorAnnotation['type']) =>
    openingTab(taskOf(1, { error_annotation: { type, message: '', recovery_actions: [] } }), 'active')
  expect(failing('execution_failed')).toBe('agent')
  expect(failing('retry_budget_exhausted')).toBe('review')
  expect(failing('hook_failed')).toBe('hooks')
  expect(failing('workspace_reset_required')).toBe('workspace')
  expect(openingTab(taskOf(1), 'custom', { merges: true })).toBe('review')
  expect(openingTab(taskOf(1, { review_passed_at: taskOf(1).created_at }), 'terminal')).toBe('review')
  expect(openingTab(taskOf(1, { review_passed_at: null }), 'terminal')).toBe('overview')
  expect(openingTab(null, undefined)).toBe('overview')
  expect(failing('pull_request_closed')).toBe('pull_request')
})

test('opens a task that waits for its forge at its pull request, unless a hook failed', () => {
  const failed = { type: 'hook_failed' as const, message: 'No.', recovery_actions: [] }
  const awaitsForge = true
  expect(openingTab(taskOf(1), 'gate', { awaitsForge })).toBe('pull_request')
  expect(openingTab(taskOf(1, { active_execution_id: ids.running }), 'gate', { awaitsForge })).toBe('agent')
  expect(openingTab(taskOf(1, { error_annotation: failed }), 'gate', { awaitsForge })).toBe('review')
})
