import { expect, test } from 'vitest'
import { feedbackText, threadsOf, type FeedbackComment } from '../../../../src-main/tasks/rules/feedback-text.ts'
import type { CommentId } from '../../../../src-shared/contract/ids.ts'

const comment = (id: string, more: Partial<FeedbackComment> & { answers?: string } = {}): FeedbackComment => ({
  id: id as CommentId,
  parent_id: (more.answers as CommentId | undefined) ?? null,
  author: { name: 'Ada' },
  body: `Body of ${id}`,
  anchor: null,
  ...more,
})
const chosen = (...ids: string[]) => new Set(ids as CommentId[])
const idsOf = (threads: readonly (readonly FeedbackComment[])[]) =>
  threads.map((thread) => thread.map((one) => one.id).join(' '))

test('sends a whole thread if one of its comments was chosen', () => {
  const all = [
    comment('one'),
    comment('two'),
    comment('one-a', { answers: 'one' }),
    comment('three'),
    comment('one-a-x', { answers: 'one-a' }),
  ]
  expect(idsOf(threadsOf(all, chosen('one-a-x', 'three')))).toEqual(['one one-a one-a-x', 'three'])
  expect(idsOf(threadsOf(all, chosen('one')))).toEqual(['one one-a one-a-x'])
  expect(threadsOf(all, chosen())).toEqual([])
})

test('sends an answer alone if its comment is gone', () => {
  expect(idsOf(threadsOf([comment('lost', { answers: 'gone' })], chosen('lost')))).toEqual(['lost'])
})

test('puts the message first, then each thread with its place and quoted answers', () => {
  const threads = [
    [
      comment('one', { anchor: { path: 'src/add.ts', side: 'new', line: 7 }, body: 'Wrong sign.\nSee the issue.' }),
      comment('two', { answers: 'one', author: { name: 'Grace' }, body: 'Only here?\n\nOr below too?' }),
    ],
    [comment('three', { anchor: { path: 'README.md', side: 'old', line: 2 }, body: 'Keep this line.' })],
    [comment('four', { anchor: { path: 'a.ts', side: 'new', line: 9, start_line: 4 }, body: 'Too long.' })],
  ]
  expect(feedbackText(threads, 'Nearly there.')).toBe(
    [
      'Nearly there.',
      '',
      '`src/add.ts:7`',
      'Wrong sign.',
      'See the issue.',
      '',
      '> Grace answered: Only here?',
      '>',
      '> Or below too?',
      '',
      '`README.md:2` (as it was before the change)',
      'Keep this line.',
      '',
      '`a.ts:4-9`',
      'Too long.',
    ].join('\n'),
  )
})

test('sends a message alone unchanged', () => {
  expect(feedbackText([], 'Please add a test.')).toBe('Please add a test.')
})
