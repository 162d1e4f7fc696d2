import { expect, test } from 'vitest'
import { planLane, type RunState } from '../../../../src-main/landing/rules/plan-lane.ts'

/**
 * Simulates a lane with one culprit and some slots; returns the rejected task, and the numbers of runs and rounds.
 */
function findCulprit(size: number, culprit: number, max_parallel: number) {
  let queue = Array.from({ length: size }, (_, index) => index + 1)
  let states = new Map<number, RunState>()
  let [started, rounds] = [0, 0]
  for (;;) {
    const step = planLane({ window: queue.length, runs: states, max_parallel })
    if (step.kind === 'reject') return { rejected: queue[0], started, rounds, left: queue.slice(1) }
    if (step.kind === 'land') {
      const { count } = step
      queue = queue.slice(count)
      states = new Map([...states].flatMap(([at, state]) => (at > count ? [[at - count, state] as const] : [])))
      if (queue.length === 0) return { rejected: null, started, rounds, left: [] }
      continue
    }
    for (const count of step.stop) states.delete(count)
    for (const count of step.start) states.set(count, 'running')
    started += step.start.length
    // All current runs end in the same round.
    rounds += 1
    for (const [count, state] of states) {
      if (state === 'running') states.set(count, queue.slice(0, count).includes(culprit) ? 'failed' : 'passed')
    }
  }
}

test('finds the culprit among n tasks with at most ⌈log2 n⌉ + 1 runs, and lands those before it', () => {
  for (let size = 1; size <= 40; size += 1) {
    for (let culprit = 1; culprit <= size; culprit += 1) {
      const found = findCulprit(size, culprit, 1)
      expect(found.rejected).toBe(culprit)
      expect(found.started).toBeLessThanOrEqual(Math.ceil(Math.log2(size)) + 1)
      expect(found.left).toEqual(Array.from({ length: size - culprit }, (_, index) => culprit + 1 + index))
    }
  }
})

test('never takes more rounds with more slots', () => {
  for (let size = 1; size <= 33; size += 1) {
    for (let culprit = 1; culprit <= size; culprit += 1) {
      const [one, four] = [findCulprit(size, culprit, 1), findCulprit(size, culprit, 4)]
      expect(four.rejected).toBe(culprit)
      expect(four.rounds).toBeLessThanOrEqual(one.rounds)
    }
  }
})

test('lands all after one round if there is no culprit', () => {
  expect(findCulprit(10, 11, 4)).toMatchObject({ rejected: null, rounds: 1 })
  expect(findCulprit(10, 11, 1)).toMatchObject({ rejected: null, started: 1 })
})

test('stops runs that contain a failed task, and adds a later task to the tested ones', () => {
  const runs = new Map<number, RunState>([
    [8, 'running'],
    [4, 'failed'],
  ])
  expect(planLane({ window: 8, runs, max_parallel: 2 })).toEqual({ kind: 'test', start: [2, 1], stop: [8] })
  expect(planLane({ window: 3, runs: new Map([[2, 'running' as const]]), max_parallel: 2 })).toEqual({
    kind: 'test',
    start: [3],
    stop: [],
  })
  expect(planLane({ window: 0, runs: new Map(), max_parallel: 2 })).toEqual({ kind: 'test', start: [], stop: [] })
})
