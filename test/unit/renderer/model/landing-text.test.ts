import { expect, test } from 'vitest'
import { landingText } from '../../../../src-renderer/model/landing-text.ts'
import type { LandingPlace } from '../../../../src-shared/contract/landing.ts'
import { taskOf } from '../task-fixture.ts'

const place = (state: LandingPlace['state'], position: number): LandingPlace => ({
  task_id: taskOf(1).id,
  position,
  state,
  with: [],
  steps: [],
  started_at: null,
})

test('says where a task is on its way to its base', () => {
  expect(landingText(place('waiting', 2), 'main', 'DS-4')).toBe('2nd in line for main, behind DS-4')
  expect(landingText(place('waiting', 1), 'main', null)).toBe('Next to land on main')
  const words = [3, 4, 11, 12, 13, 21, 22].map((at) => landingText(place('waiting', at), 'main', null).split(' ')[0])
  expect(words).toEqual(['3rd', '4th', '11th', '12th', '13th', '21st', '22nd'])
  expect(landingText(place('testing', 1), 'main', null)).toBe('Testing the merge into main')
  expect(landingText(place('moving', 1), 'main', null)).toBe('Merging into main')
  expect(landingText(undefined, 'main', null)).toBe('Merging into main')
})
