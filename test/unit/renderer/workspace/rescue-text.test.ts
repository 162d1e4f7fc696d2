import { describe, expect, test } from 'vitest'
import { rescueContent, rescueReason, restoreOutcome } from '../../../../src-renderer/features/workspace/rescue-text.ts'
import { rescueReasons, type RestoredRescue } from '../../../../src-shared/contract/rescues.ts'

const onBranch = (why_branch: RestoredRescue['why_branch']): RestoredRescue => ({
  to: 'branch',
  branch: 'svc/rescued-5fd07a',
  path: null,
  why_branch,
})

test('has a text for every reason', () => {
  const said = rescueReasons.map((reason) => rescueReason({ reason }))
  expect(new Set(said).size).toBe(rescueReasons.length)
  expect(said).not.toContain('')
})

test('names the kind and submodule of a snapshot', () => {
  expect(rescueContent({ files: 1, kind: 'uncommitted', submodule: null })).toBe('1 file, uncommitted')
  expect(rescueContent({ files: 3, kind: 'commits', submodule: 'lib/parser' })).toBe(
    '3 files, committed, in lib/parser',
  )
})

describe('what a restore did', () => {
  test('names no branch in the worktree', () => {
    const restored = { to: 'worktree', branch: 'svc/x', path: '/w', why_branch: null } as const
    expect(restoreOutcome(restored, 1)).toEqual({
      sentence: '1 file is back in the worktree, not committed. The snapshot stays.',
      branch: null,
    })
  })
  test.each([
    ['no_worktree', 'There is no worktree'],
    ['busy', 'An agent is using'],
    ['conflicts', 'have changed since'],
    ['commits', 'The snapshot contains commits'],
  ] as const)('names the branch and the reason %s', (why, words) => {
    const outcome = restoreOutcome(onBranch(why), 2)
    expect(outcome.sentence).toMatch(/^2 files are on a branch of their own\./)
    expect(outcome.sentence).toContain(words)
    expect(outcome.branch).toBe('svc/rescued-5fd07a')
  })
  test('invents no reason for a branch without one', () => {
    expect(restoreOutcome(onBranch(null), 1).sentence).toBe('1 file is on a branch of its own. The snapshot stays.')
  })
})
