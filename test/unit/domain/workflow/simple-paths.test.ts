import fc from 'fast-check'
import { expect, test } from 'vitest'
import { graphOf, simplePaths } from '../../../../src-main/domain/workflow/simple-paths.ts'

const anyGraph = fc.integer({ min: 1, max: 7 }).chain((size) =>
  fc.record({
    targets: fc.array(fc.array(fc.integer({ min: 0, max: size - 1 }), { maxLength: size }), {
      minLength: size,
      maxLength: size,
    }),
    ends: fc.uniqueArray(fc.integer({ min: 0, max: size - 1 })),
    least: fc.integer({ min: 0, max: size - 1 }),
  }),
)

/** Finds every path by trying all. */
function allPaths(targets: readonly (readonly number[])[], ends: readonly number[], least: number): number[][] {
  const found: number[][] = []
  const walk = (path: readonly number[]) => {
    const here = path.at(-1) ?? 0
    if (ends.includes(here)) found.push([...path])
    for (const next of new Set(targets[here])) if (next >= least && !path.includes(next)) walk([...path, next])
  }
  walk([least])
  return found
}

const search = (targets: readonly (readonly number[])[], ends: readonly number[], least: number, limit: number) => {
  const budget = { left: 10_000_000 }
  const paths = simplePaths({
    graph: graphOf(targets),
    start: least,
    isEnd: (node) => ends.includes(node),
    least,
    limit,
    budget,
  })
  return { paths, budget }
}

test('finds every simple path to an end once, shorter ones first', () => {
  fc.assert(
    fc.property(anyGraph, ({ targets, ends, least }) => {
      const { paths } = search(targets, ends, least, 100_000)
      const sorted = (list: readonly (readonly number[])[]) => list.map((path) => path.join(' ')).sort()
      expect(sorted(paths)).toEqual(sorted(allPaths(targets, ends, least)))
      const lengths = paths.map((path) => path.length)
      expect(lengths).toEqual([...lengths].sort((a, b) => a - b))
    }),
    { numRuns: 2_000 },
  )
})

test('keeps the shortest paths within a limit', () => {
  fc.assert(
    fc.property(anyGraph, fc.integer({ min: 1, max: 5 }), ({ targets, ends, least }, limit) => {
      const lengths = allPaths(targets, ends, least).map((path) => path.length)
      const shortest = lengths.sort((a, b) => a - b).slice(0, limit)
      expect(search(targets, ends, least, limit).paths.map((path) => path.length)).toEqual(shortest)
    }),
  )
})

test('sorts paths of equal length by their earlier edges', () => {
  expect(search([[2, 1], [3], [3], []], [3], 0, 10).paths).toEqual([
    [0, 2, 3],
    [0, 1, 3],
  ])
})

test('stops without budget and returns what it has', () => {
  const graph = graphOf([[1], [2], []])
  const nothing = simplePaths({ graph, start: 0, isEnd: (node) => node === 2, least: 0, limit: 9, budget: { left: 0 } })
  expect(nothing).toEqual([])
})
