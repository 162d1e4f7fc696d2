import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDeliverer, deliveryPauseMs } from '../../../../src-renderer/shell/deliver-notices.ts'
import type { SystemNotice } from '../../../../src-shared/contract/desktop.ts'
import { NotificationId, ProjectId } from '../../../../src-shared/contract/ids.ts'
import type { Notification } from '../../../../src-shared/contract/notifications.ts'
import { taskOf } from '../task-fixture.ts'

const { project_id, id: task_id, updated_at: created_at } = taskOf(1)
const notice = (number: number, more: Partial<Notification> = {}): Notification => ({
  id: NotificationId.parse(`01990009-0000-7000-8000-${String(number).padStart(12, '0')}`),
  event_type: 'task.done',
  title: `T${number}`,
  body: 'First\nSecond',
  project_id,
  task_id,
  read: false,
  created_at,
  ...more,
})

function rig(wants: { system: boolean; sound: boolean }) {
  const shown: [SystemNotice, () => void][] = []
  const seen: unknown[] = []
  const state = { wants, muted: '', lookedAt: '' }
  const deliverer = createDeliverer({
    wants: () => state.wants,
    isMuted: (id) => id === state.muted,
    isLookedAt: (id) => id === state.lookedAt,
    show: (item, open) => void shown.push([item, open]),
    play: () => void seen.push('chime'),
    openTask: (item) => void seen.push(item.title),
    openInbox: () => void seen.push('inbox'),
  })
  return { deliverer, shown, seen, state, titles: () => shown.map(([{ title }]) => title) }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('shows and plays nothing while everything is off, not even later', () => {
  const { deliverer, titles, seen, state } = rig({ system: false, sound: false })
  deliverer.deliver(notice(1))
  state.wants = { system: true, sound: true }
  vi.advanceTimersByTime(deliveryPauseMs)
  expect([titles(), seen]).toEqual([[], []])
})

test('shows one at once with the first line of its reason, and opens the task on click', () => {
  const { deliverer, shown, seen } = rig({ system: true, sound: false })
  deliverer.deliver(notice(1))
  expect(shown.map(([item]) => item)).toEqual([{ tag: notice(1).id, title: 'T1', body: 'First' }])
  shown[0]?.[1]()
  expect(seen).toEqual(['T1'])
})

test('skips a muted project and the task on screen', () => {
  const { deliverer, titles, seen, state } = rig({ system: true, sound: true })
  state.muted = project_id
  deliverer.deliver(notice(1))
  state.muted = ''
  state.lookedAt = task_id
  deliverer.deliver(notice(2))
  expect([titles(), seen]).toEqual([[], []])
  deliverer.deliver(notice(3, { task_id: taskOf(2).id, project_id: ProjectId.parse(project_id) }))
  expect([titles(), seen]).toEqual([['T3'], ['chime']])
})

test('shows a flood as a number that opens the inbox, with one sound', () => {
  const { deliverer, shown, titles, seen } = rig({ system: true, sound: true })
  for (let number = 1; number <= 40; number++) deliverer.deliver(notice(number))
  expect(titles()).toEqual(['T1'])
  vi.advanceTimersByTime(deliveryPauseMs)
  expect([titles(), seen]).toEqual([
    ['T1', '39 new notifications'],
    ['chime', 'chime'],
  ])
  shown[1]?.[1]()
  expect(seen.at(-1)).toBe('inbox')
})

test('drops what was waiting when it is stopped', () => {
  const { deliverer, titles } = rig({ system: true, sound: false })
  deliverer.deliver(notice(1))
  deliverer.deliver(notice(2))
  deliverer.stop()
  vi.advanceTimersByTime(deliveryPauseMs)
  expect(titles()).toEqual(['T1'])
})
