import { describe, expect, test } from 'vitest'
import {
  adopters,
  adoptRefusal,
  folderSize,
  orphanState,
  removalConsequences,
  removedSentence,
} from '../../../../src-renderer/features/workspace/orphan-text.ts'
import { boardData } from '../../../helpers/fake-board-data.ts'

describe('the question before a folder is removed', () => {
  test('says for a worktree with changes that they and its branch are kept', () => {
    const told = removalConsequences({ kind: 'worktree', dirty: true, branch: 'svc/x' }).join(' ')
    expect(told).toContain('What is not committed is kept first')
    expect(told).toContain('The branch svc/x stays')
  })
  test('promises nothing unnecessary for a clean worktree', () => {
    const told = removalConsequences({ kind: 'worktree', dirty: false, branch: null }).join(' ')
    expect(told).toContain('Everything in it is committed.')
    expect(told).toContain('on no branch')
  })
  test('says for a plain folder that its files are kept, or that it stays', () => {
    const told = removalConsequences({ kind: 'folder', dirty: true, branch: null }).join(' ')
    expect(told).toContain('all of its files are saved in a snapshot first')
    expect(told).toContain('nothing is removed')
  })
})

test('names after a removal what was kept, and where an undeletable folder went', () => {
  expect(removedSentence({ path: '/w', rescues: [], moved_to: null })).toBe('The folder is gone.')
  expect(removedSentence({ path: '/w', rescues: ['a'], moved_to: null })).toBe(
    'The folder is gone. What it held is kept in 1 rescue snapshot.',
  )
  expect(removedSentence({ path: '/w', rescues: ['a', 'b'], moved_to: '/w.kept' })).toMatch(
    /moved to \/w\.kept instead\. What it held is kept in 2 rescue snapshots\.$/,
  )
})

test('allows to adopt only a worktree on a branch', () => {
  expect(adoptRefusal({ kind: 'worktree', branch: 'svc/x' })).toBeNull()
  expect(adoptRefusal({ kind: 'worktree', branch: null })).toContain('on no branch')
  expect(adoptRefusal({ kind: 'folder', branch: null })).toContain('no longer a worktree')
})

test('offers the projects with its repository, else all', () => {
  const { projects } = boardData(0)
  const [first] = projects
  expect(adopters({ repo_path: first?.repos[0]?.path ?? '' }, projects)).toEqual([first])
  expect(adopters({ repo_path: '/elsewhere' }, projects)).toEqual(projects)
})

test('marks a size that was not counted to the end', () => {
  expect(folderSize({ size_bytes: 214_000_000, size_complete: true })).toBe('214 MB')
  expect(folderSize({ size_bytes: 214_000_000, size_complete: false })).toBe('over 214 MB')
})

test('shows its state by shape and words', () => {
  const states = [
    orphanState({ kind: 'worktree', dirty: false }),
    orphanState({ kind: 'worktree', dirty: true }),
    orphanState({ kind: 'folder', dirty: true }),
  ]
  expect(new Set(states.map((state) => state.glyph)).size).toBe(3)
  expect(states.map((state) => state.label)).toEqual(['Clean', 'Uncommitted changes', 'No worktree'])
})
