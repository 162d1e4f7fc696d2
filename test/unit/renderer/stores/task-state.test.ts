import { expect, test } from 'vitest'
import { createTaskState } from '../../../../src-renderer/stores/tasks/task-state.ts'
import { taskOf } from '../task-fixture.ts'

test('names tasks by a project’s new key', () => {
  const state = createTaskState()
  const [one, two] = [taskOf(1, { number: 1 }), taskOf(2, { number: 2 })]
  state.put(one)
  state.put(two)
  state.rename(one.project_id, 'WEB')
  expect(state.byProject(one.project_id).map(({ ref }) => ref)).toEqual(['WEB-1', 'WEB-2'])
  state.rename('another', 'XX')
  expect(state.byId.get(one.id)?.ref).toBe('WEB-1')
})

test('moves a card at once, and back when that is refused', async () => {
  const state = createTaskState()
  const task = taskOf(1, { position: 1 })
  state.put(task)
  const place = () => state.byProject(task.project_id)[0]?.position
  const first = Promise.withResolvers<undefined>()
  const second = Promise.withResolvers<undefined>()
  const moved = state.placing(task.id, 5, () => first.promise)
  expect(place()).toBe(5)
  const again = state.placing(task.id, 7, () => second.promise)
  first.resolve(undefined)
  await moved
  expect(place()).toBe(7)
  second.reject(new Error('No.'))
  await expect(again).rejects.toThrow('No.')
  expect(place()).toBe(1)
})
