import { expect, test } from 'vitest'
import { landingText, landingTime } from '../../../../src-renderer/model/landing-text.ts'
import type { LandingPlace } from '../../../../src-shared/contract/landing.ts'
import { taskOf } from '../task-fixture.ts'

const place = (state: LandingPlace['state'], position: number): LandingPlace => ({
  task_id: taskOf(1).id,
  position,
  state,
  with: [],
  steps: [],
  started_at: null,
  lands_at: null,
})
const now = Date.parse('2026-03-01T10:00:00Z')
const after = (ms: number) => ({ ...place('waiting', 2), lands_at: new Date(now + ms).toISOString() })

test('says where a task is on its way to its base', () => {
  expect(landingText(place('waiting', 2), 'main', 'DS-4', now)).toBe('2nd in line for main, behind DS-4')
  expect(landingText(place('waiting', 1), 'main', null, now)).toBe('Next to land on main')
  const words = [3, 4, 11, 12, 13, 21, 22].map(
    (at) => landingText(place('waiting', at), 'main', null, now).split(' ')[0],
  )
  expect(words).toEqual(['3rd', '4th', '11th', '12th', '13th', '21st', '22nd'])
  expect(landingText(place('testing', 1), 'main', null, now)).toBe('Testing the merge into main')
  expect(landingText(place('moving', 1), 'main', null, now)).toBe('Merging into main')
  expect(landingText(undefined, 'main', null, now)).toBe('Merging into main')
})

test('says about how long a landing takes, where that is known and not over', () => {
  expect(landingText(after(5_200), 'main', 'DS-4', now)).toBe('2nd in line for main, about 6 s, behind DS-4')
  expect(landingText({ ...after(400), state: 'testing' }, 'main', null, now)).toBe(
    'Testing the merge into main, about 1 s',
  )
  const times = [9_000, 10_100, 31_000, 56_000, 80_000, 130_000, 0, -1].map((ms) => landingTime(after(ms), now))
  expect(times).toEqual(['about 9 s', 'about 15 s', 'about 35 s', 'about 1 m', 'about 1 m', 'about 2 m', null, null])
  expect(landingTime(place('waiting', 1), now)).toBe(null)
})
