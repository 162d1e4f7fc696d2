import type { ReviewNote } from '../../../src-shared/contract/reviews.ts'
import { escapeHidden } from '../../../src-shared/lang/hidden-characters.ts'
import { count } from '../../formatters/format-amounts.ts'
import { namePaths } from './review-findings.ts'

/** The text of a review's note. */
export interface NoteText {
  readonly title: string
  readonly text: string
  /** Paths, refs or commits, shown in monospace. */
  readonly named: string
}

export function noteText(note: ReviewNote): NoteText {
  switch (note.kind) {
    case 'repository_changed':
      return {
        title: 'The repository itself changed while agents were running.',
        text: 'No diff shows this. In its git folder:',
        named: namePaths(note.paths),
      }
    case 'base_moved':
      return {
        title: `A run moved ${shortRef(note.ref)}, which this work merges into.`,
        text: 'Commits there were not reviewed.',
        named: movedText(note),
      }
    case 'refs_moved':
      return {
        title: `A run moved ${shortRef(note.ref)}.`,
        text: 'It is not the task’s branch.',
        named: movedText(note),
      }
    case 'base_rewritten':
      return {
        title: 'The base branch was rewritten since this work began.',
        text: `A merge brings ${count(note.commits.length, 'dropped commit')} back. Update the branch with a rebase to leave them out.`,
        named: note.commits
          .map((id, index) => `${id.slice(0, 8)} ${escapeHidden(note.subjects[index] ?? '')}`)
          .join(', '),
      }
    case 'hidden_text':
      return {
        title: 'Some changes can’t be shown as text.',
        text: 'Open these files in the worktree before you decide.',
        named: namePaths(note.paths),
      }
    case 'same_names':
      return {
        title: 'Some names differ only in case or accents.',
        text: 'On macOS and Windows, one of these replaces the other:',
        named: namePaths(note.paths),
      }
    case 'secret':
      return {
        title: 'This work seems to add a secret.',
        text: 'Once merged, it stays in the history. Look at',
        named: [
          ...note.files.map(({ path, lines }) =>
            escapeHidden(lines.length === 0 ? path : `${path}:${lines.join(',')}`),
          ),
          ...note.commits.map((id) => `the message of ${id.slice(0, 8)}`),
        ].join(', '),
      }
    case 'mass_deletion':
      return {
        title: `This work deletes ${note.deleted} of ${count(note.of, 'file')}.`,
        text: 'Check that this is meant before you decide.',
        named: '',
      }
    case 'work_taken':
      return {
        title: 'The agent didn’t work on the task’s branch.',
        text: `${count(note.commits, 'commit')} moved to it from`,
        named: shortRef(note.from),
      }
    case 'work_left':
      return {
        title: 'The agent left a branch of its own.',
        text: `${count(note.commits, 'commit')} that this review doesn’t show:`,
        named: shortRef(note.ref),
      }
    case 'unasked':
      return {
        title: 'The agent didn’t ask before it acted.',
        text: `Its permissions require that. ${count(note.count, 'action')} without asking:`,
        named: note.actions.map(escapeHidden).join(', ') + (note.count > note.actions.length ? ' …' : ''),
      }
  }
}

const shortRef = (ref: string): string => escapeHidden(ref.replace(/^refs\/(?:heads|tags|remotes)\//, ''))

function movedText({ from, to }: { readonly from: string | null; readonly to: string | null }): string {
  return `${shortId(from) ?? 'new'} → ${shortId(to) ?? 'deleted'}`
}

const shortId = (id: string | null): string | null =>
  id === null ? null : id.startsWith('ref: ') ? shortRef(id.slice('ref: '.length)) : id.slice(0, 8)
