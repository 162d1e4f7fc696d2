import { expect, test } from 'vitest'
import { dropHint, verdictOf } from '../../../../src-renderer/features/board/moves/column-moves.ts'
import { columnsOf } from '../../../../src-renderer/model/workflow-shape.ts'
import type { TaskMove } from '../../../../src-shared/contract/tasks.ts'
import { workflow } from '../workflow-fixture.ts'

function columnOf(name: string) {
  const column = columnsOf(workflow).find((one) => one.name === name)
  if (!column) throw new Error(`No column ${name}`)
  return column
}
const move = (to: string, rest: Partial<TaskMove> = {}): TaskMove => ({
  to,
  label: 'Go',
  allowed: true,
  via: 'transition',
  reason: null,
  ...rest,
})

test('takes a card back in its own column without a move', () => {
  expect(verdictOf(columnOf('Making'), 'stuck', [move('making')])).toEqual({ kind: 'own' })
})

test('moves a dropped card to the first declared state of the column', () => {
  const way = move('making', { via: 'claim' })
  expect(verdictOf(columnOf('Making'), 'ready', [move('stuck'), way])).toEqual({ kind: 'allowed', move: way })
})

test('does not move to a later state, so that no one cancels by a drop', () => {
  const moves = [
    move('over', { allowed: false, reason: 'Reached through Landing only.' }),
    move('dropped', { via: 'cancel' }),
  ]
  expect(verdictOf(columnOf('Over'), 'judged', moves)).toEqual({
    kind: 'refused',
    reason: 'Reached through Landing only.',
  })
})

test('takes the allowed one of several moves to the same state', () => {
  const reject = move('making', { via: 'verdict_fail' })
  const moves = [move('making', { allowed: false, reason: 'Not by you.' }), reject]
  expect(verdictOf(columnOf('Making'), 'judged', moves)).toEqual({ kind: 'allowed', move: reject })
})

test('refuses a column without a move, with a sentence', () => {
  expect(verdictOf(columnOf('Landing'), 'ready', [])).toEqual({
    kind: 'refused',
    reason: 'Tasks can’t move from here to Landing.',
  })
})

test('names in the hint what will happen', () => {
  const titles = [
    dropHint(move('landing'), columnOf('Landing'), 'main').title,
    dropHint(move('judged', { label: 'Submit' }), columnOf('Judging'), 'main').title,
    dropHint(move('making', { via: 'claim' }), columnOf('Making'), 'main').title,
    dropHint(move('making', { via: 'verdict_fail' }), columnOf('Making'), 'main').title,
    dropHint(move('over', { via: 'cancel' }), columnOf('Over'), 'main').title,
  ]
  expect(titles).toEqual([
    'Drop to merge into main',
    'Drop to move it to Judging',
    'Drop to start it in Making',
    'Drop to request changes (goes to Making)',
    'Drop to cancel it',
  ])
})
