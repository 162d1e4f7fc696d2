import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId } from '../../src-shared/contract/ids.ts'
import type { QueueMove } from '../../src-shared/contract/queue.ts'
import { notFound } from '../domain/refusal.ts'
import { moveInQueue } from './rules/queue-order.ts'
import type { Ground } from '../core/ground.ts'

/** Moves a queued run among those of its project. Returns a refusal if it is not queued. */
export function reorderQueue({ feed }: Ground, id: ExecutionId, to: QueueMove): Refusal | null {
  return feed.commit((tx) => {
    const record = tx.executions.get(id)
    if (!record) return notFound('execution')
    const { project_id, status, agent_id } = record
    if (status !== 'queued' || agent_id === null) return notQueued
    const waiting = tx.executions.queue(project_id).filter((one) => one.status === 'queued' && one.agent_id !== null)
    const ranks = moveInQueue(waiting, id, to)
    for (const [moved, queue_rank] of ranks) {
      const current = tx.executions.get(moved)
      if (current) tx.executions.put({ ...current, queue_rank })
    }
    if (ranks.size > 0) tx.emit('queue.updated', { project_id })
    return null
  })
}

const notQueued: Refusal = { code: 'not_queued', message: "This run isn't queued. Only runs that wait can be moved." }
