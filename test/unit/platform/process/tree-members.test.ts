import { expect, test } from 'vitest'
import type { LinuxProcess } from '../../../../src-main/platform/process/process-table.ts'
import { findMembers } from '../../../../src-main/platform/process/tree-members.ts'

const row = (pid: number, ppid: number): LinuxProcess => ({
  pid,
  ppid,
  pgid: pid,
  session: pid,
  terminal: 0,
  name: 'sh',
  zombie: false,
  started: String(pid),
  // Older than the tree, so that no environment is looked at.
  order: pid === 1_000_000 ? 2 : 1,
})

test('follows parents through any number of generations', () => {
  const tree = { pid: 1_000_000, processMarker: 'x', env: {} }
  const chain = Array.from({ length: 20_000 }, (_, index) => row(1_000_001 + index, 1_000_000 + index))
  const others = Array.from({ length: 20_000 }, (_, index) => row(2_000_001 + index, 2_000_000 + index))
  // The last of a chain first, as a table may have it.
  const members = findMembers([...others.toReversed(), ...chain.toReversed(), row(1_000_000, 1)], new Set([tree]))
  expect(members.size).toBe(20_001)
  expect(members.get(1_020_000)).toBe(tree)
})

test('ends at a circle of parents', () => {
  const tree = { pid: 1_000_000, processMarker: 'x', env: {} }
  expect(findMembers([row(1_000_000, 1), row(5, 6), row(6, 5)], new Set([tree])).size).toBe(1)
})
