import { expect, test } from 'vitest'
import { rowOf, stepped } from '../../../../src-renderer/features/inbox/inbox-keys.ts'
import {
  firstLine,
  noticeSentence,
  notificationLabels,
} from '../../../../src-renderer/features/inbox/notification-labels.ts'
import { notificationTypes, toneOf, type NotificationType } from '../../../../src-shared/contract/notification-types.ts'

const press = (key: string, more: Partial<KeyboardEvent> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
})

test.each([
  ['PageDown', 1, 4],
  ['PageUp', 4, 0],
  ['Home', 3, 0],
  ['End', 0, 4],
])('moves with %s from row %i to row %i of five', (key, from, index) => {
  expect(rowOf(press(key), from, 5)).toBe(index)
})

test('stops at the first and last row, and moves nowhere for other keys', () => {
  expect([stepped(3, 1, 5), stepped(4, 1, 5), stepped(0, -1, 5), stepped(-1, 1, 0)]).toEqual([4, 4, 0, null])
  expect([rowOf(press('x'), 0, 5), rowOf(press('End', { ctrlKey: true }), 0, 5), rowOf(press('End'), -1, 0)]).toEqual([
    null,
    null,
    null,
  ])
})

test('shows good news as success and all else as warning or failure, even an unknown type', () => {
  for (const type of [...notificationTypes, 'task.of_tomorrow' as NotificationType]) {
    expect([type, notificationLabels(type).tone === 'ok']).toEqual([type, toneOf(type) === 'success'])
  }
})

test('leads from news of a pull request to its tab', () => {
  const item = { event_type: 'pull_request.needs_you' as const, body: '#431: e2e failed' }
  expect(notificationLabels(item.event_type)).toMatchObject({ tab: 'pull_request', tone: 'you' })
  expect(noticeSentence(item, true)).toBe('Pull request: #431: e2e failed')
})

test('takes the first line with content as reason', () => {
  expect([' \n\n  CI failed \nmore', '', ' ', null].map((body) => firstLine({ body }))).toEqual([
    'CI failed',
    null,
    null,
    null,
  ])
})

test('says below a title what happened, why, and that a person is needed', () => {
  const passed = { event_type: 'review.passed', body: null } as const
  expect([
    noticeSentence({ event_type: 'merge.failed', body: 'Two files conflict.\nBoth' }, false),
    noticeSentence({ event_type: 'review.failed', body: '`src/a.ts` is wrong' }, false),
    noticeSentence(passed, false),
    noticeSentence(passed, true),
  ]).toEqual([
    'Merge failed: Two files conflict.',
    'Review failed: src/a.ts is wrong',
    'Was ready for review',
    'Ready for your review',
  ])
})
