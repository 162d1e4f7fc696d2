import type { Verdict } from '../../../src-shared/contract/reviews.ts'

/** Somebody who has a say in an attempt, and what was said. */
export interface Decider {
  readonly name: string
  readonly kind: 'agent' | 'person'
  readonly verdict: Verdict['verdict'] | 'waiting'
}
type Face = Omit<Decider, 'verdict'>

/**
 * Who judges an attempt: the latest word of each who has spoken, and who is still to speak. `waited`: who is asked at
 * the gate, the person at the screen last; nobody where the task has left it.
 */
export function deciders(
  verdicts: readonly Verdict[],
  face: (by: string) => Face,
  waited: readonly Face[],
): readonly Decider[] {
  const last = new Map(verdicts.map(({ by, verdict }) => [by, verdict]))
  const spoken = [...last].map(([by, verdict]) => ({ ...face(by), verdict }))
  const isHeard = ({ name, kind }: Face) =>
    spoken.some((one) => one.kind === kind && (kind === 'person' || one.name === name))
  return [...spoken, ...waited.filter((one) => !isHeard(one)).map((one) => ({ ...one, verdict: 'waiting' as const }))]
}
