import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDeliverer, deliveryPauseMs } from '../../../../src-renderer/shell/deliver-notices.ts'
import type { NoticeResponse, SystemNotice } from '../../../../src-shared/contract/desktop.ts'
import type { Ask } from '../../../../src-shared/contract/executions.ts'
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
  const shown: [SystemNotice, (response: NoticeResponse) => void][] = []
  const seen: unknown[] = []
  const state = { wants, muted: '', lookedAt: '', ask: null as Ask | null }
  const deliverer = createDeliverer({
    wants: () => state.wants,
    isMuted: (id) => id === state.muted,
    isLookedAt: (id) => id === state.lookedAt,
    show: (item, onResponse) => void shown.push([item, onResponse]),
    askOf: () => (state.ask ? { executionId: 'e1', ask: state.ask, waiting: 1 } : null),
    answer: ({ executionId, ask }, given) => void seen.push([executionId, ask.id, given]),
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
  shown[0]?.[1]({ kind: 'clicked' })
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
  shown[1]?.[1]({ kind: 'clicked' })
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

test('answers what an agent asks by the buttons and the text field of the notification', () => {
  const { deliverer, shown, seen, state } = rig({ system: true, sound: false })
  const options = [
    { id: 'allow', label: 'Allow', description: null, kind: 'allow_once' },
    { id: 'reject', label: 'Deny', description: null, kind: 'reject_once' },
  ] as const
  const permission = {
    ...{ id: 'a1', kind: 'permission', text: 'Wants to run npm test', tool: 'Bash', action: 'run', target: 'npm test' },
    ...{
      detail: 'npm test',
      diff: null,
      options: [...options],
      multiple: false,
      takes_text: true,
      asked_at: created_at,
    },
  } as Ask
  const deliver = (number: number, ask: Ask) => {
    state.ask = ask
    deliverer.deliver(notice(number, { event_type: 'execution.asks', body: ask.text }))
    vi.advanceTimersByTime(deliveryPauseMs)
    return shown.at(-1)
  }
  const [allowed, respond] = deliver(1, permission) ?? []
  expect(allowed).toMatchObject({ body: 'Wants to run npm test', actions: ['Allow', 'Deny'] })
  expect(allowed).not.toHaveProperty('reply')
  respond?.({ kind: 'action', index: 0 })
  const question: Ask = { ...permission, id: 'a2', kind: 'question', text: 'Which?', detail: null }
  const [asked, reply] = deliver(2, question) ?? []
  expect(asked).toMatchObject({ reply: 'Your own answer' })
  reply?.({ kind: 'reply', text: 'Both' })
  expect(seen).toEqual([
    ['e1', 'a1', { option_id: 'allow' }],
    ['e1', 'a2', { text: 'Both' }],
  ])
  // No one can allow what they can't read whole.
  const long = `npm test ${'--flag '.repeat(40)}`
  const diff = { path: 'a', old_text: 'a', new_text: 'b' }
  const hidden: readonly Ask[] = [
    { ...permission, text: `Wants to run ${long}`, target: long, detail: long },
    { ...permission, detail: 'npm test\nrm -rf /' },
    { ...permission, detail: null, diff },
  ]
  for (const [index, ask] of hidden.entries()) {
    const [cut, open] = deliver(3 + index, ask) ?? []
    expect(cut).not.toHaveProperty('actions')
    open?.({ kind: 'clicked' })
  }
  expect(seen.slice(2)).toEqual(['T3', 'T4', 'T5'])
})
