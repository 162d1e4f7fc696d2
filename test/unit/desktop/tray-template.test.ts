import { expect, test } from 'vitest'
import { toPause, toResume, trayTemplate, trayTooltip } from '../../../src-main/desktop/tray-template.ts'

const actions = { show: () => {}, newTask: () => {}, pause: () => {}, resume: () => {}, quit: () => {} }
const projects = [
  { id: 'a', paused: false },
  { id: 'b', paused: true },
]

test('shows how many agents run', () => {
  expect([0, 1, 7].map((running) => trayTooltip({ running, projects }))).toEqual([
    'Copse: no agents running',
    'Copse: 1 agent running',
    'Copse: 7 agents running',
  ])
})

test('offers a quick task and a pause, or to resume once everything is paused', () => {
  const labels = (paused: boolean) =>
    trayTemplate({ running: 0, projects: [{ id: 'a', paused }] }, actions).map(({ label }) => label)
  expect(labels(false)).toContain('New Task…')
  expect(labels(false)).toContain('Pause All Projects')
  expect(labels(true)).toContain('Resume Projects')
  const none = trayTemplate({ running: 0, projects: [] }, actions)
  expect(none.filter(({ enabled }) => enabled === false).map(({ label }) => label)).toEqual([
    'No agents running',
    'New Task…',
    'Pause All Projects',
  ])
})

test('resumes only what the tray has paused, unless there is nothing else', () => {
  expect(toPause({ running: 0, projects })).toEqual(['a'])
  const all = projects.map(({ id }) => ({ id, paused: true }))
  expect(toResume({ running: 0, projects: all }, ['a', 'gone'])).toEqual(['a'])
  expect(toResume({ running: 0, projects: all }, [])).toEqual(['a', 'b'])
})
