import type { MoveQuestion } from './use-moves.ts'

/** The titles of the dialogs that moves open. */
const questionTitles: Readonly<Record<Exclude<MoveQuestion['kind'], 'chain'>, string>> = {
  agent: 'Who should do this?',
  changes: 'Request changes',
  merge: 'Merge it?',
  cancel: 'Cancel this task?',
  archive: 'Archive this task?',
  assign: 'Assign',
  start: 'Who should do these?',
  state: 'Move to',
  labels: 'Labels',
  priority: 'Priority',
  move: 'Move to',
  template: 'Save as template',
  trust: 'Trust this dev container?',
}

/** Returns the title of the dialog of a question; of two tasks in a chain, it names both. */
export function questionTitle(question: MoveQuestion): string {
  if (question.kind !== 'chain') return questionTitles[question.kind]
  const { first, next } = question
  return `${next?.ref ?? 'Which task'} starts after ${first?.ref ?? 'which task'}${first && next ? '' : '?'}`
}
