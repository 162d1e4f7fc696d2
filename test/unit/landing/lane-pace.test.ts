import { expect, test } from 'vitest'
import { createLanePace } from '../../../src-main/landing/lane-pace.ts'

/** A lane whose turns take the given times, one after the other. */
function paceAfter(...turns: readonly number[]) {
  let now = 1_000
  const pace = createLanePace<string>(() => now)
  for (const [index, took] of turns.entries()) {
    pace.noteFirst(`t${index}`)
    now += took
    pace.noteLanded()
  }
  return { pace, now: () => now, pass: (ms: number) => (now += ms) }
}

test('knows nothing before the first landing', () => {
  const { pace } = paceAfter()
  pace.noteFirst('a')
  expect(pace.landsAt(0, 1)).toBe(null)
})

test('tells a task its time by the median of the last landings, from when the first task’s turn began', () => {
  const { pace, now, pass } = paceAfter(2_000, 30_000, 3_000)
  pace.noteFirst('a')
  const began = now()
  pass(1_000)
  pace.noteFirst('a')
  expect([0, 1, 2].map((index) => pace.landsAt(index, 1))).toEqual([began + 3_000, began + 6_000, began + 9_000])
  // Two are tested together, so two land in the time of one.
  expect([0, 1, 2, 3].map((index) => pace.landsAt(index, 2))).toEqual([
    began + 3_000,
    began + 3_000,
    began + 6_000,
    began + 6_000,
  ])
  // The first left: the turn of the next begins now.
  pace.noteFirst('b')
  expect(pace.landsAt(0, 1)).toBe(now() + 3_000)
})

test('forgets old landings', () => {
  const { pace, now } = paceAfter(
    ...Array.from({ length: 20 }, () => 60_000),
    ...Array.from({ length: 9 }, () => 1_000),
  )
  pace.noteFirst('a')
  expect(pace.landsAt(0, 1)).toBe(now() + 1_000)
})
