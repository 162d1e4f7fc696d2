import { expect, test } from 'vitest'
import { layOutChain, nodeWidth, taskBeside } from '../../../../src-renderer/features/task/lay-out-chain.ts'
import type { Chain } from '../../../../src-renderer/model/chains.ts'

function chain(...links: readonly string[]): Chain {
  const edges = links.map((link) => {
    const [from = '', to = ''] = link.split('>')
    return { from, to, kind: 'dependency' as const }
  })
  return { ids: [...new Set(edges.flatMap(({ from, to }) => [from, to]))], edges }
}
const diamond = chain('a>b', 'a>c', 'b>d', 'c>d', 'a>d')
const height = () => 44

test('every task stands to the right of what it comes after, and none lies on another', () => {
  const many = chain(...Array.from({ length: 49 }, (_, index) => `t${Math.floor(index / 3)}>t${index + 1}`))
  for (const one of [diamond, many]) {
    const { tasks, edges, width, height: whole } = layOutChain(one, height)
    const at = new Map(tasks.map((task) => [task.id, task]))
    expect(tasks).toHaveLength(one.ids.length)
    expect(edges).toHaveLength(one.edges.length)
    for (const { from, to } of edges) expect(at.get(to)?.x).toBeGreaterThan((at.get(from)?.x ?? 0) + nodeWidth)
    for (const task of tasks) {
      expect(task.x >= 0 && task.x + nodeWidth <= width && task.y >= 0 && task.y + task.height <= whole).toBe(true)
      const meets = tasks.filter((other) => other.x === task.x && Math.abs(other.y - task.y) < task.height)
      expect(meets).toEqual([task])
    }
  }
})

test('a line past a column goes between the tasks that stand in it', () => {
  const { tasks, edges } = layOutChain(diamond, height)
  const path = edges.find(({ from, to }) => from === 'a' && to === 'd')?.path ?? ''
  const level = Number(/ ([\d.]+)H/.exec(path)?.[1])
  const crossed = tasks.filter(({ id }) => id === 'b' || id === 'c')
  expect(crossed.filter(({ y }) => level > y && level < y + 44)).toEqual([])
})

test('arrow keys lead to the nearest task on that side', () => {
  const { tasks } = layOutChain(diamond, height)
  const upper = tasks[1]?.id ?? ''
  const lower = tasks[2]?.id ?? ''
  expect(taskBeside(tasks, 'd', 'ArrowLeft')).not.toBe('a')
  expect(taskBeside(tasks, upper, 'ArrowDown')).toBe(lower)
  expect(taskBeside(tasks, lower, 'ArrowUp')).toBe(upper)
  expect(taskBeside(tasks, upper, 'ArrowRight')).toBe('d')
  expect(taskBeside(tasks, 'a', 'ArrowLeft')).toBeNull()
  expect(taskBeside(tasks, 'a', 'Enter')).toBeNull()
})
