import { expect, test } from 'vitest'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { createRefusedMerges } from '../../../src-main/pull-requests/refused-merges.ts'
import type { PullRequestRecord } from '../../../src-main/ports/pull-request-queries.ts'

const task_id = '1' as TaskId
const checks = (state: string) => ({ items: [{ name: 'ci', state }] })
const record = (more: object = {}) =>
  ({
    task_id,
    number: 1,
    head: 'a',
    state: 'open',
    updated_there: '1',
    checks: checks('passed'),
    ...more,
  }) as unknown as PullRequestRecord
const minute = 60_000

test('tries a refused merge at the next poll, then later each time, at most an hour', () => {
  const refused = createRefusedMerges()
  const tries: number[] = []
  for (let now = 0; now <= 300 * minute; now += 5 * minute) {
    if (refused.isRefused(record(), now)) continue
    tries.push(now / minute)
    refused.note(record(), now)
  }
  expect(tries).toEqual([0, 5, 15, 35, 75, 135, 195, 255])
})

test.each([{ head: 'b' }, { number: 2 }, { state: 'draft' }, { updated_there: '2' }, { checks: checks('running') }])(
  'tries it again when it has changed: %j',
  (more) => {
    const refused = createRefusedMerges()
    for (let times = 0; times < 5; times++) refused.note(record(), 0)
    expect(refused.isRefused(record(), minute)).toBe(true)
    expect(refused.isRefused(record(more), minute)).toBe(false)
  },
)

test('tries it again when a person asks', () => {
  const refused = createRefusedMerges()
  for (let times = 0; times < 5; times++) refused.note(record(), 0)
  refused.forget(task_id)
  expect(refused.isRefused(record(), minute)).toBe(false)
})
