import { v7 } from 'uuid'
import type { TransitionRecord } from '../../../src-main/ports/task-queries.ts'
import type { TaskId, TransitionId } from '../../../src-shared/contract/ids.ts'
import { at } from './open-store.ts'

/** A move of a task as the audit stores it. */
export function transitionRecord(task_id: TaskId, more: Partial<TransitionRecord> = {}): TransitionRecord {
  return {
    id: v7() as TransitionId,
    task_id,
    from_state: 'review',
    to_state: 'in_progress',
    triggered_by: 'system',
    rejection: false,
    trigger_reason: null,
    hooks: [],
    created_at: at,
    ...more,
  }
}
