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

describe('what is told before a folder is removed', () => {
  test('of a worktree with loose changes: they are kept, and so is its branch', () => {
    const told = removalConsequences({ kind: 'worktree', dirty: true, branch: 'svc/x' }).join(' ')
    expect(told).toContain('What is not committed is kept first')
    expect(told).toContain('The branch svc/x stays')
  })
  test('of a clean one nothing is promised that is not needed', () => {
    const told = removalConsequences({ kind: 'worktree', dirty: false, branch: null }).join(' ')
    expect(told).toContain('Everything in it is committed.')
    expect(told).toContain('on no branch')
  })
  test('of a plain folder: that its files are kept, or that it stays', () => {
    const told = removalConsequences({ kind: 'folder', dirty: true, branch: null }).join(' ')
    expect(told).toContain('all of its files are saved in a snapshot first')
    expect(told).toContain('nothing is removed')
  })
})

test('what a removal did names what was kept, and where a folder went that could not go', () => {
  expect(removedSentence({ path: '/w', rescues: [], moved_to: null })).toBe('The folder is gone.')
  expect(removedSentence({ path: '/w', rescues: ['a'], moved_to: null })).toBe(
    'The folder is gone. What it held is kept in 1 rescue snapshot.',
  )
  expect(removedSentence({ path: '/w', rescues: ['a', 'b'], moved_to: '/w.kept' })).toMatch(
    /moved to \/w\.kept instead\. What it held is kept in 2 rescue snapshots\.$/,
  )
})

test('only a worktree on a branch can be adopted', () => {
  expect(adoptRefusal({ kind: 'worktree', branch: 'svc/x' })).toBeNull()
  expect(adoptRefusal({ kind: 'worktree', branch: null })).toContain('on no branch')
  expect(adoptRefusal({ kind: 'folder', branch: null })).toContain('no longer a worktree')
})

test('the projects with its repository are offered, and all where none is known to have it', () => {
  const { projects } = boardData(0)
  const [first] = projects
  expect(adopters({ repo_path: first?.repos[0]?.path ?? '' }, projects)).toEqual([first])
  expect(adopters({ repo_path: '/elsewhere' }, projects)).toEqual(projects)
})

test('a size that was not looked at to the end says so', () => {
  expect(folderSize({ size_bytes: 214_000_000, size_complete: true })).toBe('214 MB')
  expect(folderSize({ size_bytes: 214_000_000, size_complete: false })).toBe('over 214 MB')
})

test('its state is told by shape and words', () => {
  const states = [
    orphanState({ kind: 'worktree', dirty: false }),
    orphanState({ kind: 'worktree', dirty: true }),
    orphanState({ kind: 'folder', dirty: true }),
  ]
  expect(new Set(states.map((state) => state.glyph)).size).toBe(3)
  expect(states.map((state) => state.label)).toEqual(['Clean', 'Uncommitted changes', 'No worktree'])
})
