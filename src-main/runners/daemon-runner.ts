import { defaultRunner } from '../../src-shared/contract/runners.ts'
import type { Tx } from '../core/event-feed.ts'
import { daemonRunner, saveRunner } from '../core/runner-records.ts'
import type { DaemonRecord } from '../ports/agent-queries.ts'
import type { RunnerQueries, RunnerRecord } from '../ports/runner-queries.ts'

/** Returns the runner of such a machine; its first report makes it one. */
export function adoptDaemon(tx: Tx, { id, name }: DaemonRecord, capacity: number | undefined): RunnerRecord {
  const known = tx.runners.get(daemonRunner(id))
  if (known && (capacity === undefined || capacity === known.capacity)) return known
  const record: RunnerRecord = {
    ...(known ?? {
      ...defaultRunner,
      id: daemonRunner(id),
      name: freeName(tx, name),
      kind: 'daemon',
      config: { shared: false },
      state: 'unchecked',
      last_error: null,
      created_at: tx.now(),
    }),
    ...(capacity !== undefined && { capacity }),
  }
  saveRunner(tx, record)
  return record
}

/** Returns the name, with a number behind it where another runner has it. */
function freeName(q: { readonly runners: RunnerQueries }, name: string): string {
  const taken = new Set(q.runners.list().flatMap((one) => [one.id as string, one.name.toLowerCase()]))
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name} ${number}`
    if (!taken.has(free.toLowerCase())) return free
  }
}
