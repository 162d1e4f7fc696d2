import type { Tx } from '../core/event-feed.ts'
import type { Ground } from '../core/ground.ts'
import type { ForgeIntentRecord } from '../ports/pull-request-queries.ts'

type Written = Pick<ForgeIntentRecord, 'task_id' | 'project_id' | 'intent' | 'key' | 'triggered_by'> &
  Partial<Pick<ForgeIntentRecord, 'with_push' | 'settled_at'>>

/**
 * Writes down what is to be written to a forge, before it is sent. One with a `key` takes the place of the task's
 * earlier one with the same key.
 */
export function writeIntent(
  { newId }: Pick<Ground, 'newId'>,
  tx: Tx,
  { with_push = false, settled_at = null, ...written }: Written,
): ForgeIntentRecord {
  const known = written.key === null ? null : tx.forge_intents.byKey(written.task_id, written.key)
  const id = known?.id ?? newId()
  const record = { ...written, id, with_push, created_at: tx.now(), settled_at, error: null }
  tx.forge_intents.put(record)
  return record
}
