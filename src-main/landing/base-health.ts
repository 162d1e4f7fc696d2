import type { RepoId } from '../../src-shared/contract/ids.ts'
import type { LandingLane } from '../../src-shared/contract/landing.ts'
import { nowIso, type Ground } from '../core/ground.ts'
import type { BaseHealthRecord } from '../ports/review-queries.ts'
import type { RunEnd } from './run-end.ts'

interface Branch {
  readonly repo_id: RepoId
  readonly branch: string
}

/** Returns what is known of a commit of a base branch; a commit that was never tested is unknown. */
export function readHealth(
  { store }: Pick<Ground, 'store'>,
  { repo_id, branch }: Branch,
  commit: string | null,
): Pick<LandingLane, 'health' | 'failure'> {
  const known = commit === null ? null : store.read.base_health.get(repo_id, branch)
  if (known?.commit !== commit) return { health: 'unknown', failure: null }
  return { health: known.health, failure: known.health === 'red' ? failureOf(known) : null }
}

function failureOf({ step, exit_code, output_tail, checked_at, last_green }: BaseHealthRecord): LandingLane['failure'] {
  return { step: step ?? '', exit_code: exit_code ?? 1, output_tail, checked_at, last_green }
}

/** Writes down how the checks of a base branch's commit ended; a check that could not run says nothing. */
export async function saveHealth(
  context: Ground,
  { repo_id, branch }: Branch,
  commit: string,
  end: RunEnd,
): Promise<void> {
  if (end.kind === 'broken') return
  const failed = end.kind === 'failed' ? end : null
  await context.writes.untilWritten(() =>
    context.feed.commit((tx) => {
      if (!tx.repos.get(repo_id)) return
      tx.base_health.put({
        repo_id,
        branch,
        commit,
        health: failed ? 'red' : 'green',
        last_green: failed ? (tx.base_health.get(repo_id, branch)?.last_green ?? null) : commit,
        step: failed?.step ?? null,
        exit_code: failed?.exit_code ?? null,
        output_tail: failed?.output_tail ?? '',
        checked_at: nowIso(context),
      })
    }),
  )
}
