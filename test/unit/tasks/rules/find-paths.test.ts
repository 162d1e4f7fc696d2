import { expect, test } from 'vitest'
import { findPaths } from '../../../../src-main/tasks/rules/find-paths.ts'

const paths = [
  'README.md',
  'docs/board.md',
  'src/board/Board.vue',
  'src/cart/total.ts',
  'src/board/card.css',
  'b/o/a.rd',
]

test('ranks a prefix of the name first, then parts of the name, folders and letters in order', () => {
  expect(findPaths(paths, 'board', 10)).toEqual([
    ...['docs/board.md', 'src/board/Board.vue', 'src/board/card.css', 'b/o/a.rd'],
  ])
  expect(findPaths(paths, 'oard', 10)[0]).toBe('docs/board.md')
  expect(findPaths(paths, 'src/b', 10)).toEqual(['src/board/card.css', 'src/board/Board.vue'])
  expect(findPaths(paths, 'SCT', 10)).toEqual(['src/cart/total.ts'])
  expect(findPaths(paths, 'zzz', 10)).toEqual([])
  expect(findPaths(paths, '', 2)).toEqual(['b/o/a.rd', 'README.md'])
})

test('searches 100,000 paths quickly', () => {
  const many = Array.from({ length: 100_000 }, (_, n) => `packages/part-${n % 100}/src/module-${n}/index-${n}.ts`)
  findPaths(many, 'warm', 20)
  const began = performance.now()
  expect(findPaths(many, 'index-99999', 20)).toEqual(['packages/part-99/src/module-99999/index-99999.ts'])
  expect(findPaths(many, 'prt9mdl', 20)).toHaveLength(20)
  expect(performance.now() - began).toBeLessThan(1_000)
})
