import type { Verdict } from '../../../src-shared/contract/reviews.ts'

/** A reviewer of an attempt with the verdict. */
export interface Decider {
  readonly name: string
  readonly kind: 'agent' | 'person'
  readonly verdict: Verdict['verdict'] | 'waiting'
}
type Face = Omit<Decider, 'verdict'>

/**
 * Returns the reviewers of an attempt: the latest verdict of each, then those without one.
 * `waited`: the assignees at the gate, the user last; empty if the task has left it.
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
