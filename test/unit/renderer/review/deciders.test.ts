import { expect, test } from 'vitest'
import type { Verdict } from '../../../../src-shared/contract/reviews.ts'
import { deciders } from '../../../../src-renderer/features/review/deciders.ts'

const said = (by: string, verdict: Verdict['verdict']): Verdict => ({
  by,
  verdict,
  feedback: null,
  head_commit: null,
  created_at: '2026-07-01T10:00:00.000Z',
})
const face = (by: string) =>
  by.startsWith('user:') ? { name: 'Mara', kind: 'person' as const } : { name: 'Auditor', kind: 'agent' as const }
const auditor = { name: 'Auditor', kind: 'agent' } as const
const you = { name: 'You', kind: 'person' } as const

test('waits for everyone asked, and takes each one’s last decision', () => {
  expect(deciders([], face, [auditor, you])).toEqual([
    { ...auditor, verdict: 'waiting' },
    { ...you, verdict: 'waiting' },
  ])
  expect(deciders([said('agent:1', 'fail'), said('agent:1', 'pass')], face, [auditor, you])).toEqual([
    { ...auditor, verdict: 'pass' },
    { ...you, verdict: 'waiting' },
  ])
})

test('waits for no one after a person’s decision, or beyond the gate', () => {
  expect(deciders([said('user:mara', 'pass')], face, [you])).toEqual([
    { name: 'Mara', kind: 'person', verdict: 'pass' },
  ])
  expect(deciders([], face, [])).toEqual([])
})
