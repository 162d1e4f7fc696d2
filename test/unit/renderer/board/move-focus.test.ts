import { describe, expect, test } from 'vitest'
import { groupTasks } from '../../../../src-renderer/features/board/group-tasks.ts'
import { moveFocus, type Direction } from '../../../../src-renderer/features/board/moves/move-focus.ts'
import { boardColumns } from '../../../../src-renderer/model/workflow-shape.ts'
import { taskOf } from '../task-fixture.ts'
import { workflow } from '../workflow-fixture.ts'

const ready = [3, 2, 1].map((index) => taskOf(index, { status: 'ready', position: index }))
const judged = taskOf(9, { status: 'judged' })
const columns = groupTasks(boardColumns(new Map([[judged.project_id, workflow]])), [...ready, judged])
const titleless = (id: string | null) => (id === null ? null : Number(id.slice(-4)))

describe('moving the focus', () => {
  test.each<[from: number | null, to: Direction, expected: number]>([
    [null, 'down', 3],
    [3, 'down', 2],
    [1, 'down', 1],
    [3, 'up', 3],
    [2, 'up', 3],
    [2, 'right', 9],
    [9, 'left', 3],
    [9, 'right', 9],
    [3, 'left', 3],
  ])('moves from %s with %s to %s', (from, to, expected) => {
    expect(titleless(moveFocus(columns, from === null ? null : taskOf(from).id, to))).toBe(expected)
  })

  test('has nothing to focus on an empty board', () => {
    expect(moveFocus([], null, 'down')).toBeNull()
  })
})
