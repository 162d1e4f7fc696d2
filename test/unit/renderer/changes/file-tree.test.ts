import { describe, expect, test } from 'vitest'
import type { DiffFile } from '../../../../src-shared/contract/workspaces.ts'
import { splitName, treeOrder, treeRows } from '../../../../src-renderer/features/changes/file-tree.ts'

const file = (path: string): DiffFile => ({
  path,
  old_path: null,
  status: 'modified',
  old_mode: '100644',
  new_mode: '100644',
  blob: null,
  additions: 1,
  deletions: 1,
  binary: false,
  truncated: false,
  reason: null,
  viewed: false,
})
const files = ['z.md', 'src/b/two.ts', 'src/b/one.ts', 'src/a.ts', 'docs/deep/down/x.md'].map(file)
const shown = (closed: string[] = [], filter = '') =>
  treeRows(files, new Set(closed), filter).map((row) => `${'  '.repeat(row.depth)}${row.name}`)

describe('the tree of changed files', () => {
  test('lists folders first, by name, and joins a chain of single folders', () => {
    expect(shown()).toEqual(['docs/deep/down', '  x.md', 'src', '  b', '    one.ts', '    two.ts', '  a.ts', 'z.md'])
  })
  test('sorts numbers in names as numbers', () => {
    const names = ['module10.ts', 'module2.ts', 'b/v10/x', 'b/v9/x', 'module1.ts', 'Module1.ts'].map(file)
    expect(treeOrder(names).map(({ path }) => path)).toEqual([
      'b/v9/x',
      'b/v10/x',
      'module1.ts',
      'Module1.ts',
      'module2.ts',
      'module10.ts',
    ])
  })
  test('hides what a closed folder contains', () => {
    expect(shown(['src/b'])).toEqual(['docs/deep/down', '  x.md', 'src', '  b', '  a.ts', 'z.md'])
  })
  test('opens what a filter matches, in any case', () => {
    expect(shown(['src', 'src/b'], 'TWO')).toEqual(['src/b', '  two.ts'])
  })
  test('walks files in the order of the tree', () => {
    expect(treeOrder(files).map((each) => each.path)).toEqual([
      'docs/deep/down/x.md',
      'src/b/one.ts',
      'src/b/two.ts',
      'src/a.ts',
      'z.md',
    ])
  })
})

test('cuts names before their ending', () => {
  expect([splitName('lease.test.ts'), splitName('.env'), splitName('Makefile')]).toEqual([
    ['lease.test', '.ts'],
    ['.env', ''],
    ['Makefile', ''],
  ])
})
