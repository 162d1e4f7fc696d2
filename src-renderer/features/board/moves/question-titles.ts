import type { MoveQuestion } from './use-moves.ts'

/** The titles of the dialogs that moves open; of two tasks in a chain, the title names both. */
export const questionTitles: Readonly<Record<Exclude<MoveQuestion['kind'], 'chain'>, string>> = {
  agent: 'Who should do this?',
  changes: 'Request changes',
  merge: 'Merge it?',
  cancel: 'Cancel this task?',
  assign: 'Assign',
  start: 'Who should do these?',
  state: 'Move to',
  labels: 'Labels',
  priority: 'Priority',
  move: 'Move to',
  template: 'Save as template',
}
