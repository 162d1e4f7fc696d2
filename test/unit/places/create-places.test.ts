import { expect, test } from 'vitest'
import { createPlaces } from '../../../src-main/places/create-places.ts'
import type { Place } from '../../../src-main/ports/place.ts'
import type { RunnerRecord } from '../../../src-main/ports/runner-queries.ts'
import { defaultRunner, hereRunner } from '../../../src-shared/contract/runners.ts'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'

test('makes a place again when what it works by has changed, and keeps it else', () => {
  const id = '0197f1c0-0000-7000-8000-000000000001' as RunnerId
  let runner: RunnerRecord = {
    ...defaultRunner,
    id,
    name: 'Far',
    kind: 'ssh',
    config: { host: 'far' },
    state: 'ready',
    last_error: null,
    created_at: '2026-11-01T12:00:00Z',
  }
  const made: number[] = []
  const here = {} as Place
  const places = createPlaces({
    here,
    runners: { get: () => runner, list: () => [runner] },
    kinds: {
      place: ({ grace_seconds }) => {
        made.push(grace_seconds)
        return {} as Place
      },
    },
    runnerOf: () => id,
    ciRunnerOf: () => null,
  })
  expect(places.at(hereRunner)).toBe(here)
  const first = places.at(id)
  runner = { ...runner, state: 'unreachable', capacity: 9 }
  expect(places.at(id)).toBe(first)
  runner = { ...runner, grace_seconds: 30 }
  expect(places.at(id)).not.toBe(first)
  expect(made).toEqual([600, 30])
})
