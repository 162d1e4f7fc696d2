import { expect, test } from 'vitest'
import { subtasksOf } from '../../../../src-renderer/features/task/task-relations.ts'
import { taskOf } from '../task-fixture.ts'

test('subtasks are those of the task, oldest first', () => {
  const [one, two] = [taskOf(1), taskOf(2)]
  const part = { ...taskOf(3), parent_id: one.id }
  const later = { ...taskOf(4), parent_id: one.id, dependencies: [two.id] }
  expect(subtasksOf(one.id, [later, part, one, two])).toEqual([part, later])
})
