import type { DaemonId, RunnerId, UserId } from '../../src-shared/contract/ids.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import type { RunnerRecord } from '../ports/runner-queries.ts'
import type { Tx } from './event-feed.ts'
import { toRunner } from './views.ts'
import type { DaemonQueries } from '../ports/agent-queries.ts'

/** Saves a runner and emits it, without its configuration, because all who are signed in see it. */
export function saveRunner(tx: Tx, record: RunnerRecord): void {
  tx.runners.put(record)
  emitRunner(tx, record.id)
}

/**
 * Emits a runner whose number of runs has changed. This machine's changes with every run, which has an event of its
 * own.
 */
export function emitRunner(tx: Tx, id: RunnerId | null): void {
  const record = id === null || id === hereRunner ? null : tx.runners.get(id)
  if (record) tx.emit('runner.updated', { project_id: null, runner_id: record.id, runner: toRunner(tx, record, false) })
}

/** A machine that connects from its side is a runner with the id of its daemon. */
export const daemonRunner = (id: DaemonId): RunnerId => id as string as RunnerId

/** Returns whether a runner takes the runs of an owner's agents: a machine that isn't shared is its own owner's alone. */
export function servesOwner(
  q: { readonly daemons: DaemonQueries },
  { id, kind, config }: RunnerRecord,
  owner_id: UserId | null,
): boolean {
  if (kind !== 'daemon' || (config !== null && 'shared' in config && config.shared)) return true
  return q.daemons.get(id as string as DaemonId)?.owner_id === owner_id
}
