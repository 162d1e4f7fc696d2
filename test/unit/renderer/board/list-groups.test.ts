import { expect, test } from 'vitest'
import { groupRows, linesOf, type GroupFacts } from '../../../../src-renderer/features/board/list-groups.ts'
import { glyphOfState, stateOf } from '../../../../src-renderer/model/workflow-shape.ts'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { taskOf } from '../task-fixture.ts'
import { workflow } from '../workflow-fixture.ts'

const facts: GroupFacts = {
  stateOfTask: ({ status }) => {
    const state = stateOf(workflow, status)
    return state && { state, glyph: glyphOfState(workflow, state) }
  },
  projectName: ({ project_id }) => (project_id === taskOf(1).project_id ? 'Ferry' : 'Anchor'),
  rank: ({ status }) => workflow.states.findIndex(({ name }) => name === status),
}
const tasks = [
  taskOf(1, { status: 'over' }),
  taskOf(2, { status: 'ready' }),
  taskOf(3, { status: 'making' }),
  taskOf(4, { status: 'ready' }),
  taskOf(5, { status: 'judged' }),
]
const ids = (all: readonly Task[]) => all.map(({ id }) => Number(id.slice(-2)))

test('lists current states first, finished ones last, and keeps the order within', () => {
  expect(groupRows(tasks, 'state', facts).map((group) => ids(group.tasks))).toEqual([[3], [5], [2, 4], [1]])
})

test('sorts projects by name, and has one group without a head if nothing is grouped', () => {
  const elsewhere = taskOf(6, { project_id: '01990004-0000-7000-8000-00000000000b' as Task['project_id'] })
  const groups = groupRows([...tasks, elsewhere], 'project', facts)
  expect(groups.map(({ label, tasks: own }) => [label, own.length])).toEqual([
    ['Anchor', 1],
    ['Ferry', 5],
  ])
  expect(linesOf(groupRows(tasks, 'none', facts), 'none', () => true).map(({ kind }) => kind)).toEqual(
    tasks.map(() => 'task'),
  )
})

test('shows only the head of a collapsed group', () => {
  const groups = groupRows(tasks, 'state', facts)
  const lines = linesOf(groups, 'state', (key) => key === groups[2]?.key)
  expect(lines.map((line) => (line.kind === 'head' ? line.folded : ids([line.task])[0]))).toEqual([
    ...[false, 3, false, 5, true, false, 1],
  ])
})
