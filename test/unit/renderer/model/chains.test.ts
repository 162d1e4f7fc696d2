import { expect, test } from 'vitest'
import { chainOf, chainsAmong, findTasks, ranksOf, whyNotAfter } from '../../../../src-renderer/model/chains.ts'
import { ProjectId } from '../../../../src-shared/contract/ids.ts'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { taskOf } from '../task-fixture.ts'

/** The n-th task; it depends on the given tasks. */
const after = (index: number, on: readonly number[], rest: Partial<Task> = {}): Task =>
  taskOf(index, { ref: `FER-${index}`, dependencies: on.map((one) => taskOf(one).id), ...rest })
const id = (index: number) => taskOf(index).id
const on = (index: number) => ({ stacked_on: id(index) })

const [one, two, three, four, lone] = [after(1, []), after(2, [1]), after(3, [1]), after(4, [2, 3]), after(9, [])]
const known = (...tasks: readonly Task[]) => new Map<string, Task>(tasks.map((task) => [task.id, task]))
const neverOver = () => false

test('a chain is all that comes before or after a task, through stacks too, and what is not known of it', () => {
  const five = after(5, [8], on(4))
  const chain = chainOf(two.id, [one, two, three, four, five, lone])
  expect(chain.ids.toSorted()).toEqual([1, 2, 3, 4, 5, 8].map(id))
  expect(chain.edges).toContainEqual({ from: four.id, to: five.id, kind: 'stack' })
  expect(chain.edges).toHaveLength(6)
  expect(chainOf(lone.id, [one, two, lone])).toEqual({ ids: [lone.id], edges: [] })
})

test('the chains among some tasks have two or more of them each', () => {
  const [six, seven] = [after(6, []), after(7, [], on(6))]
  const chains = chainsAmong([one, two, lone, six, seven, after(8, [99])])
  expect(chains.map(({ ids }) => ids)).toEqual([
    [one.id, two.id],
    [six.id, seven.id],
  ])
})

test('a task stands behind all that it comes after', () => {
  const ranks = ranksOf(chainOf(one.id, [one, two, three, four, after(5, [1, 4])]))
  expect([1, 2, 3, 4, 5].map((index) => ranks.get(id(index)))).toEqual([0, 1, 1, 2, 3])
})

test('a circle that should not be there hangs nothing', () => {
  const ranks = ranksOf(chainOf(two.id, [after(1, [2]), two]))
  expect(ranks.size).toBe(2)
})

test('what can’t come after a task says why', () => {
  const tasks = known(one, two, three, four, lone)
  const why = (first: Task, next: Task, isOver = neverOver as (task: Task) => boolean) =>
    whyNotAfter(first, next, tasks, isOver)
  const far = { ...lone, project_id: ProjectId.parse('01990001-0000-7000-8000-000000000099') }
  expect(why(one, one)).toBe('A task can’t wait for itself.')
  expect(why(one, far)).toBe('Tasks of different projects can’t wait for each other.')
  expect(why(one, lone, ({ ref }) => ref === 'FER-9')).toBe('FER-9 is already finished.')
  expect(why(one, two)).toBe('FER-2 already waits for FER-1.')
  expect(why(one, { ...lone, ...on(1) })).toBe('FER-9 is already on top of FER-1.')
  expect(why(four, one)).toBe('FER-4 itself comes after FER-1.')
  expect(why({ ...lone, ...on(4) }, one)).toBe('FER-9 itself comes after FER-1.')
  expect(why(one, four)).toBeNull()
  expect(why(lone, one)).toBeNull()
})

test('a search finds words of the title and the number in any order, without the archived', () => {
  const named = { ...two, title: 'Sign the payload with keys' }
  expect(findTasks([one, named, three], 'KEYS sign')).toEqual([named])
  expect(findTasks([one, named, three], 'fer-3')).toEqual([three])
  expect(findTasks([{ ...one, archived: true }, three], '')).toEqual([three])
})
