import { expect, test } from 'vitest'
import { placeBeside } from '../../../../src-main/tasks/rules/place-task.ts'

test('puts a task halfway to the next one, or one step beyond the last', () => {
  expect(placeBeside(3, [4, 9], true)).toEqual([3.5])
  expect(placeBeside(3, [2, 1], false)).toEqual([2.5])
  expect(placeBeside(3, [], true)).toEqual([4])
  expect(placeBeside(3, [], false)).toEqual([2])
})

test('moves as many tasks as needed where there is no room between two', () => {
  expect(placeBeside(3, [3, 3, 4], true)).toEqual([3.25, 3.5, 3.75])
  expect(placeBeside(3, [3], true)).toEqual([4, 5])
  expect(placeBeside(3, [3, 0], false)).toEqual([2, 1])
})

test('gives no two tasks the same position, however often one is placed', () => {
  const order = [1, 2]
  for (let turn = 0; turn < 500; turn++) {
    const [position = 0, ...moved] = placeBeside(order[0] ?? 0, order.slice(1), true)
    order.splice(1, moved.length, position, ...moved)
    expect(order).toEqual([...new Set(order)].toSorted((one, other) => one - other))
  }
})
