import { expect, test } from 'vitest'
import { inboxCommand } from '../../../../src-renderer/features/inbox/inbox-keys.ts'
import { firstLine, noticeWords } from '../../../../src-renderer/features/inbox/notice-words.ts'
import { notificationTypes, toneOf, type NotificationType } from '../../../../src-shared/contract/notifications.ts'

const press = (key: string, more: Partial<KeyboardEvent> = {}) => ({
  ...{ key, ctrlKey: false, metaKey: false, altKey: false },
  ...more,
})

test.each([
  ['ArrowDown', 0, 1],
  ['j', 3, 4],
  ['j', 4, 4],
  ['ArrowUp', 0, 0],
  ['k', 2, 1],
  ['PageDown', 1, 4],
  ['PageUp', 4, 0],
  ['Home', 3, 0],
  ['End', 0, 4],
])('%s from row %i goes to row %i of five', (key, from, index) => {
  expect(inboxCommand(press(key), from, 5)).toEqual({ kind: 'to', index })
})

test('the other keys open, toggle and delete; nothing happens in an empty list or with a modifier', () => {
  expect(['Enter', 'd', 'r', 'u', 'Delete', 'x'].map((key) => inboxCommand(press(key), 0, 1))).toEqual([
    { kind: 'open', tab: null },
    { kind: 'open', tab: 'changes' },
    { kind: 'open', tab: 'review' },
    { kind: 'toggle' },
    { kind: 'delete' },
    null,
  ])
  expect(inboxCommand(press('j'), -1, 0)).toBeNull()
  expect(inboxCommand(press('r', { ctrlKey: true }), 0, 1)).toBeNull()
})

test('good news looks like success and all else like a warning or a failure, also a type without words', () => {
  for (const type of [...notificationTypes, 'task.of_tomorrow' as NotificationType]) {
    expect([type, noticeWords(type).tone === 'ok']).toEqual([type, toneOf(type) === 'success'])
  }
})

test('the first line that says anything stands for a reason', () => {
  expect([' \n\n  CI failed \nmore', '', ' ', null].map((body) => firstLine({ body }))).toEqual([
    'CI failed',
    null,
    null,
    null,
  ])
})
