import { expect, test } from 'vitest'
import { groupTasks } from '../../../../src-renderer/features/board/group-tasks.ts'
import { createBoardDrag } from '../../../../src-renderer/features/board/moves/use-board-drag.ts'
import { boardColumns } from '../../../../src-renderer/model/workflow-shape.ts'
import type { TaskMove } from '../../../../src-shared/contract/tasks.ts'
import { taskOf } from '../task-fixture.ts'
import { workflow } from '../workflow-fixture.ts'

const task = taskOf(1, { status: 'ready' })
const start: TaskMove = { to: 'making', label: 'Start', allowed: true, via: 'claim', reason: null }
const others = [2, 3].map((index) => taskOf(index, { status: 'ready', position: index }))
const shapes = boardColumns(new Map([[taskOf(1).project_id, workflow]]))
const [, ready, making, judging] = groupTasks(shapes, [task, ...others])
if (!ready || !making || !judging) throw new Error('The fixture has lost its columns.')

function setUp(moves: () => Promise<readonly TaskMove[]>, ordered = true) {
  const heard: unknown[] = []
  let asked = 0
  const drag = createBoardDrag({
    moves: () => {
      asked += 1
      return moves()
    },
    ordered: () => ordered,
    place: async (_task, placement) => void heard.push(['place', placement]),
    perform: async (_task, move) => void heard.push(['perform', move.to]),
    refused: (_task, reason) => void heard.push(['refused', reason]),
    failed: (_task, error) => void heard.push(['failed', error]),
  })
  return { drag, heard, asked: () => asked }
}

test('asks for the moves once, on pointer down', async () => {
  const { drag, asked } = setUp(async () => [start])
  drag.prepare(task)
  drag.begin(task)
  await Promise.resolve()
  await Promise.resolve()
  expect(drag.verdict(making)).toEqual({ kind: 'allowed', move: start })
  expect(asked()).toBe(1)
})

test('counts a drop after the card was released', async () => {
  const { drag, heard } = setUp(async () => [start])
  drag.prepare(task)
  drag.begin(task)
  drag.end()
  await drag.drop(making)
  expect(heard).toEqual([['perform', 'making']])
})

test('waits with a drop for the service’s answer', async () => {
  const answer = Promise.withResolvers<readonly TaskMove[]>()
  const { drag, heard } = setUp(() => answer.promise)
  drag.begin(task)
  expect(drag.verdict(making)).toBeNull()
  const dropped = drag.drop(making)
  expect(heard).toEqual([])
  answer.resolve([start])
  await dropped
  expect(heard).toEqual([['perform', 'making']])
})

test('says why a drop is not possible, and nothing for one at home', async () => {
  const { drag, heard } = setUp(async () => [start])
  drag.begin(task)
  await drag.drop(judging)
  drag.begin(task)
  await drag.drop(ready)
  expect(heard).toEqual([['refused', 'Tasks can’t move from here to Judging.']])
})

test('reports at the drop that the moves could not be loaded', async () => {
  const gone = new Error('gone')
  const { drag, heard } = setUp(() => Promise.reject(gone))
  drag.begin(task)
  await drag.drop(making)
  expect(heard).toEqual([['failed', gone]])
})

test('places a card between two others of its column, unless the board has another order', async () => {
  const [first, second] = ready.cards
  if (!first || !second) throw new Error('The fixture has lost its tasks.')
  const put = async (ordered: boolean, edge: 'above' | 'below', column = ready) => {
    const { drag, heard } = setUp(async () => [start], ordered)
    drag.begin(task)
    expect(drag.canPlaceIn(column)).toBe(ordered && column === ready)
    await drag.drop(column, { taskId: second.id, edge })
    return heard
  }
  expect(await put(true, 'above')).toEqual([['place', { position: 2.5, above: second.id }]])
  expect(await put(false, 'above')).toEqual([])
  // Below the last other card is its own place.
  expect(await put(true, 'below')).toEqual([])
  expect(await put(true, 'above', making)).toEqual([['perform', 'making']])
})
