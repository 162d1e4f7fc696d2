/** A move of a ref by Copse; `to` is null for a deletion. */
interface OwnMove {
  readonly ref: string
  readonly to: string | null
  readonly at: number
}

// One list for all repositories: a ref and a commit together hardly ever repeat elsewhere.
const maxKept = 20_000
const kept: OwnMove[] = []

/** Records a move that Copse makes, so that it is not taken for one of a run that goes on at the same time. */
export function noteOwnMove(ref: string, to: string | null): void {
  kept.push({ ref, to, at: Date.now() })
  if (kept.length > maxKept) kept.splice(0, kept.length - maxKept)
}

/** Returns whether the last move of the ref by Copse since then, in milliseconds of Unix time, went there. */
export function isOwnMove(ref: string, to: string | null, since: number): boolean {
  const last = kept.findLast((move) => move.ref === ref)
  return last !== undefined && last.at >= since && last.to === to
}
