import { expect, test } from 'vitest'
import { folderCycles, importsOfSources } from './folder-graph.ts'

test('folders import one another in one direction, types included', () => {
  expect(folderCycles(importsOfSources())).toEqual([])
})

test('folders that import each other are found', () => {
  const imports = new Map([
    ['src-main/a/one.ts', ['src-main/b/two.ts', 'src-main/a/below/three.ts']],
    ['src-main/a/below/three.ts', ['src-main/a/one.ts']],
    ['src-main/b/two.ts', ['src-main/c/four.ts']],
    ['src-main/c/four.ts', ['src-main/a/one.ts']],
  ])
  expect(folderCycles(imports).map(([folder]) => folder)).toEqual(['src-main/a', 'src-main/b', 'src-main/c'])
})
