import { describe, expect, test } from 'vitest'
import { updateOffer, updateSentence } from '../../../../src-renderer/features/workspace/update-text.ts'

const reply = { outcome: 'updated', strategy: 'merge', rescue_ref: null, files: [] as string[] } as const

describe('the result of an update', () => {
  test.each([
    [reply, 'Up to date with main.'],
    [{ ...reply, strategy: 'rebase' } as const, 'The branch is on top of main now.'],
    [
      { ...reply, strategy: 'rebase', rescue_ref: 'refs/svc/rescue/x' } as const,
      'The branch is on top of main now. Its earlier commits are among the snapshots.',
    ],
    [{ ...reply, outcome: 'up_to_date' } as const, 'Already up to date with main.'],
    [{ ...reply, outcome: 'agent', files: ['a', 'b'] } as const, 'The agent is resolving 2 conflicting files.'],
    [
      { ...reply, outcome: 'editor', files: ['a'] } as const,
      'The merge is started in the worktree. 1 file waits for your editor.',
    ],
  ])('%o', (given, sentence) => {
    expect(updateSentence({ ...given, files: [...given.files] }, 'main')).toBe(sentence)
  })
})

test('says what happens to uncommitted changes only if there are any', () => {
  const clean = updateOffer({ behind: 1, base_branch: 'main', dirty: false }, 'merge')
  expect(clean).toMatch(/^This branch is 1 commit behind main\. Merge /)
  expect(clean).not.toContain('Uncommitted')
  expect(updateOffer({ behind: 2, base_branch: 'main', dirty: true }, 'rebase')).toMatch(
    /2 commits.*Rebase.*Uncommitted changes are committed first\.$/,
  )
})
