import { createPinia, setActivePinia } from 'pinia'
import { expect, test } from 'vitest'
import { useSeenWork } from '../../../../src-renderer/stores/tasks/seen-work.ts'
import type { Task } from '../../../../src-shared/contract/tasks.ts'

const reviewed = (attempt_number: number): Pick<Task, 'id' | 'review_summary'> => ({
  id: 'one' as never,
  review_summary: { attempt_number, status: 'passed', steps: [] },
})

test('decides about the work seen in this attempt, not in an earlier one', () => {
  setActivePinia(createPinia())
  const { note, treeOf } = useSeenWork()
  expect(treeOf(reviewed(1))).toBeUndefined()
  note(reviewed(1), 'first')
  expect(treeOf(reviewed(1))).toBe('first')
  expect(treeOf(reviewed(2))).toBeUndefined()
  note(reviewed(2), 'second')
  expect(treeOf(reviewed(2))).toBe('second')
  note(reviewed(2), null)
  expect(treeOf(reviewed(2))).toBeUndefined()
})
