import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderCycles, importsOfSources } from './folder-graph.ts'
import { projectRoot } from './project-copy.ts'

/** By file: where the plan of docs/adr/0009 puts it. */
const moves = new Map(
  readFileSync(join(projectRoot, 'docs/adr/0009-moves.txt'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' → ') as [string, string]),
)
const placed = (file: string) => moves.get(file) ?? file

test('the folders of the plan import one another in one direction, types included', () => {
  const imports = [...importsOfSources()].map(([file, to]) => [placed(file), to.map(placed)] as const)
  expect(folderCycles(new Map(imports))).toEqual([])
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
