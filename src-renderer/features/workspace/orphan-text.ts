import type { Orphan, RemovedOrphan } from '../../../src-shared/contract/orphans.ts'
import type { FolderSize } from '../../../src-shared/contract/workspaces.ts'
import type { Project } from '../../../src-shared/contract/projects.ts'
import type { GlyphName, Tone } from '../../components/state-glyphs.ts'
import { count, formatBytes } from '../../formatters/format-amounts.ts'

/** Returns the state of a folder without a task, for its pill. */
export function orphanState(orphan: Pick<Orphan, 'kind' | 'dirty'>): {
  readonly label: string
  readonly tone: Tone
  readonly glyph: GlyphName
} {
  if (orphan.kind === 'folder') return { label: 'No worktree', tone: 'neutral', glyph: 'cancelled' }
  return orphan.dirty
    ? { label: 'Uncommitted changes', tone: 'warn', glyph: 'clock' }
    : { label: 'Clean', tone: 'ok', glyph: 'succeeded' }
}

/** Returns `214 MB`, or `over 214 MB` if the scan was incomplete. */
export function folderSize({ size_bytes, size_complete }: FolderSize): string {
  return size_complete ? formatBytes(size_bytes) : `over ${formatBytes(size_bytes)}`
}

/** Returns sentences about the data that a removal deletes and keeps. */
export function removalConsequences(orphan: Pick<Orphan, 'kind' | 'dirty' | 'branch'>): readonly string[] {
  if (orphan.kind === 'folder') {
    return [
      'The folder is removed from the disk.',
      'This folder is no longer a worktree, so all of its files are saved in a snapshot first, in the repository of its project. Where no project is known, nothing is removed.',
    ]
  }
  return [
    'The folder is removed from the disk, with the files in it that git ignores.',
    orphan.dirty
      ? 'What is not committed is kept first, as a rescue snapshot that can be restored for 30 days.'
      : 'Everything in it is committed.',
    orphan.branch === null
      ? 'It is on no branch: commits that no branch has are kept as a rescue snapshot.'
      : `The branch ${orphan.branch} stays, with its commits.`,
  ]
}

/** Returns the result of a removal. */
export function removedSentence({ rescues, moved_to }: RemovedOrphan): string {
  const kept = rescues.length === 0 ? '' : ` What it held is kept in ${count(rescues.length, 'rescue snapshot')}.`
  return moved_to === null
    ? `The folder is gone.${kept}`
    : `Some of it fits into no commit, so the folder was moved to ${moved_to} instead.${kept}`
}

/** Returns the reason why no task can adopt it, or null. */
export function adoptRefusal(orphan: Pick<Orphan, 'kind' | 'branch'>): string | null {
  if (orphan.kind === 'folder') return 'This folder is no longer a worktree.'
  if (orphan.branch === null) return 'It is on no branch. Run "git switch -c <name>" in it first.'
  return null
}

/**
 * Returns the projects that can adopt it: those with its repository, else all, since paths can
 * differ.
 */
export function adopters(orphan: Pick<Orphan, 'repo_path'>, projects: readonly Project[]): readonly Project[] {
  const fitting = projects.filter((project) => project.repos.some((repo) => repo.path === orphan.repo_path))
  return fitting.length > 0 ? fitting : projects
}
