import { expect, test } from 'vitest'
import {
  dependentsOf,
  edgePaths,
  possibleDependencies,
  subtasksOf,
} from '../../../../src-renderer/features/task/task-relations.ts'
import { taskOf } from '../task-fixture.ts'

const [one, two, three, four] = [taskOf(1), taskOf(2), taskOf(3), taskOf(4)]

test('lists the task’s subtasks, oldest first, and its dependents', () => {
  const part = { ...three, parent_id: one.id }
  const later = { ...four, parent_id: one.id, dependencies: [two.id] }
  const all = [later, part, one, two]
  expect(subtasksOf(one.id, all)).toEqual([part, later])
  expect(dependentsOf(two.id, all)).toEqual([later])
})

test('does not offer a circle, a duplicate, an archived task or the task itself', () => {
  const far = { ...two, dependencies: [three.id] }
  const near = { ...three, dependencies: [one.id] }
  const archived = { ...four, archived: true }
  expect(possibleDependencies(one, [one, far, near, archived], '')).toEqual([])
  expect(possibleDependencies({ ...one, dependencies: [four.id] }, [one, two, four], '')).toEqual([two])
})

test('finds words of the title in any order', () => {
  const named = { ...two, title: 'Sign the payload with keys' }
  expect(possibleDependencies(one, [one, named, three], 'KEYS sign')).toEqual([named])
  expect(possibleDependencies(one, [one, named, three], 'nothing')).toEqual([])
})

test('connects a single box straight, and several from their own heights', () => {
  expect(edgePaths(1, 52, 52, 'right', 32)).toEqual(['M0 26C16 26 16 26 32 26'])
  expect(edgePaths(2, 104, 52, 'left', 32)).toEqual(['M0 52C16 52 16 26 32 26', 'M0 52C16 52 16 78 32 78'])
})
