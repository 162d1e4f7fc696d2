import { expect, test } from 'vitest'
import {
  containmentDraft,
  containmentLabels,
  containmentOf,
  containmentOrder,
  containmentWarning,
} from '../../../src-renderer/model/containment.ts'
import { containmentLevels } from '../../../src-shared/contract/containment-levels.ts'

test('offers every level with a name of its own', () => {
  expect([...containmentOrder].sort()).toEqual([...containmentLevels].sort())
  expect(new Set(Object.values(containmentLabels)).size).toBe(containmentLevels.length)
})

test('saves an opened setting unchanged and chooses nothing by itself', () => {
  for (const config of [
    {},
    { containment: 'none' as const },
    {
      containment: 'worktree_and_hosts' as const,
      allowed_hosts: ['a.test'],
      extra_paths: { read: ['/r'], write: ['~/w'] },
    },
  ])
    expect(containmentOf(containmentDraft(config))).toEqual(config)
  const typed = { level: 'worktree' as const, hosts: '', read: ' /a \n\n/b', write: '\n' }
  expect(containmentOf(typed)).toEqual({ containment: 'worktree', extra_paths: { read: ['/a', '/b'] } })
})

test('says where it was chosen what the machine can’t provide', () => {
  const able = { available: true, kind: 'bubblewrap', reason: null } as const
  const unable = { available: false, kind: null, reason: 'Install bubblewrap.' } as const
  for (const level of containmentLevels) expect(containmentWarning(level, able)).toBeNull()
  expect(containmentWarning('none', unable)).toBeNull()
  expect(containmentWarning(null, unable)).toBeNull()
  expect(containmentWarning('auto', unable)).toMatch(/Install bubblewrap\. It won’t be contained\.$/)
  expect(containmentWarning('worktree', unable)).toMatch(/It won’t start\.$/)
  const off = { ...able, reason: 'SVC_CONTAINMENT is none.' }
  expect(containmentWarning('auto', off)).toBe('SVC_CONTAINMENT is none.')
  expect(containmentWarning('worktree', off)).toBeNull()
})
