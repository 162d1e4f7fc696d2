import { expect, test } from 'vitest'
import {
  anchorText,
  draftComments,
  firstWords,
  linesOf,
  progressOf,
  statesText,
  threadsOf,
} from '../../../../src-renderer/model/comment-threads.ts'
import { CommentId, TaskId } from '../../../../src-shared/contract/ids.ts'
import type { Comment } from '../../../../src-shared/contract/comments.ts'

const idOf = (n: number) => CommentId.parse(`01990008-0000-7000-8000-00000000000${n}`)
const comment = (n: number, more: Partial<Comment> = {}): Comment => ({
  id: idOf(n),
  task_id: TaskId.parse('01990001-0000-7000-8000-000000000001'),
  parent_id: null,
  author: { type: 'operator', id: null, name: 'Local operator' },
  body: `Body ${n}`,
  anchor: null,
  state: 'draft',
  sent: null,
  answer: null,
  original: null,
  applied: null,
  resolved_at: null,
  created_at: `2026-11-21T09:00:0${n}.000Z`,
  updated_at: `2026-11-21T09:00:0${n}.000Z`,
  ...more,
})
const settled = { state: 'resolved' as const, resolved_at: '2026-11-21T10:00:00.000Z' }

test('puts answers to answers in the first comment’s thread, in order', () => {
  const threads = threadsOf([
    comment(4, { parent_id: idOf(3) }),
    comment(2),
    comment(3, { parent_id: idOf(1) }),
    comment(1),
  ])
  expect(threads.map(({ root, answers }) => [root.id, ...answers.map(({ id }) => id)])).toEqual([
    [idOf(1), idOf(3), idOf(4)],
    [idOf(2)],
  ])
})

test('shows an answer alone if its comment is gone, and survives a circle', () => {
  expect(threadsOf([comment(1, { parent_id: idOf(9) })])).toHaveLength(1)
  expect(threadsOf([comment(1, { parent_id: idOf(2) }), comment(2, { parent_id: idOf(1) })]).length).toBeGreaterThan(0)
})

test('resolves a thread when all of it is, and shows its least advanced state before', () => {
  const sent = { state: 'sent' } as const
  const threads = threadsOf([
    comment(1, settled),
    comment(2, { parent_id: idOf(1) }),
    comment(3, settled),
    comment(4, { parent_id: idOf(3), ...settled }),
    comment(5, { state: 'answered' }),
    comment(6, { parent_id: idOf(5), ...sent }),
    comment(7, sent),
    comment(8, { state: 'answered' }),
    comment(9, { parent_id: idOf(8) }),
  ])
  expect(threads.map(({ state, resolved }) => [state, resolved])).toEqual([
    ['draft', false],
    ['resolved', true],
    ['answered', false],
    ['sent', false],
    ['draft', false],
  ])
  const drafts = (isMine: boolean) => draftComments(threads, () => isMine).map(({ id }) => id)
  expect(drafts(true)).toEqual([idOf(2), idOf(9)])
  // What others said of the task as a whole is not for the agent; what they said of its lines is.
  expect(drafts(false)).toEqual([])
  const anchor = { path: 'a.ts', side: 'new', line: 3 } as const
  const onLine = threadsOf([comment(1, { anchor }), comment(2, { parent_id: idOf(1) })])
  expect(draftComments(onLine, () => false)).toHaveLength(2)
  expect(statesText(threads)).toBe('2 not sent, 1 sent, 1 line changed')
  expect(statesText([])).toBe('')
})

test('says that a line changed, which is no answer of the agent', () => {
  const at = '2026-11-24T10:00:00.000Z'
  const change = { line: 3, before: ['a'], after: ['b'], truncated: false }
  const answered = (comment_id: Comment['id'] | null) =>
    threadsOf([comment(1, { state: 'answered', answer: { at, attempt: 2, comment_id, change } })])
  expect(answered(null).map(progressOf)).toEqual(['line changed'])
  expect(answered(idOf(2)).map(progressOf)).toEqual(['answered'])
})

test('names the place and the first words of a comment', () => {
  expect(anchorText({ path: 'src/a.ts', side: 'new', line: 30 })).toBe('src/a.ts:30')
  expect(anchorText({ path: 'src/a.ts', side: 'old', line: 56, start_line: 53 })).toBe('src/a.ts:53-56')
  expect(anchorText(null)).toBe('On the task')
  expect(firstWords('Why\n\n  this?')).toBe('Why this?')
  expect(firstWords('Shorter:\n```suggestion\nsix\n```')).toBe('Shorter: six')
  expect(firstWords('x'.repeat(200))).toHaveLength(120)
})

test('names one line and several', () => {
  expect(linesOf({ path: 'a', side: 'new', line: 30 })).toBe('line 30')
  expect(linesOf({ path: 'a', side: 'old', line: 56, start_line: 53 })).toBe('lines 53 to 56')
})
