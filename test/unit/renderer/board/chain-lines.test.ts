import { expect, test } from 'vitest'
import { chainLines } from '../../../../src-renderer/features/board/chains/chain-lines.ts'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { taskOf } from '../task-fixture.ts'

const after = (index: number, on: readonly number[], rest: Partial<Task> = {}): Task =>
  taskOf(index, { ref: `FER-${index}`, dependencies: on.map((one) => taskOf(one).id), ...rest })
const isOver = ({ status }: Task) => status === 'done'
const refs = (tasks: readonly Task[]) =>
  chainLines(tasks, isOver).map((line) => line.steps.map((step) => step.tasks.map(({ ref }) => ref)))

test('a chain is a line of steps, the oldest chain first; tasks without one are in none', () => {
  const tasks = [after(6, [5]), after(3, [1]), after(2, [1]), after(1, []), after(5, []), after(9, [])]
  expect(refs(tasks)).toEqual([
    [['FER-1'], ['FER-2', 'FER-3']],
    [['FER-5'], ['FER-6']],
  ])
})

test('what is finished at its head is a number, and a chain that is finished is not shown', () => {
  const done = { status: 'done' }
  const tasks = [after(1, [], done), after(2, [1], done), after(3, [2]), after(4, [3]), after(5, [], done)]
  const [line, ...others] = chainLines([...tasks, after(6, [5], done)], isOver)
  expect(others).toEqual([])
  expect(line?.finished).toBe(2)
  expect(line?.steps.map((step) => step.tasks.map(({ ref }) => ref))).toEqual([['FER-3'], ['FER-4']])
})

test('a step says whether it lies on the branches before it', () => {
  const tasks = [after(1, []), after(2, [], { stacked_on: taskOf(1).id }), after(3, [2])]
  expect(chainLines(tasks, isOver)[0]?.steps.map(({ stacked }) => stacked)).toEqual([false, true, false])
})
