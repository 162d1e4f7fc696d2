import { isLaterId } from '../../src-shared/lang/compare-ids.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { Queries } from '../ports/store.ts'

/**
 * What an agent did over the API during its run: its role's decision (`completed`), a visible comment, or nothing.
 */
export type AgentActivity = 'completed' | 'commented' | 'nothing'

/**
 * Returns what the agent of this execution did for its task over the API since the execution was opened. A verdict or
 * a move completes its role; a comment counts like printed output.
 */
export function agentActivity(
  q: Pick<Queries, 'transitions' | 'reviews' | 'comments'>,
  record: ExecutionRecord,
): AgentActivity {
  if (record.agent_id === null) return 'nothing'
  if (hasMoved(q, record) || hasJudged(q, record)) return 'completed'
  return hasWritten(q, record) ? 'commented' : 'nothing'
}

function hasMoved(q: Pick<Queries, 'transitions'>, record: ExecutionRecord): boolean {
  const by = actorOf(record)
  return q.transitions
    .byTask(record.task_id)
    .some((entry) => entry.triggered_by === by && isNewerThanRun(entry.id, record))
}

/**
 * A verdict is stored on its review; at a gate without reviews, with the transition into the gate while that is the
 * last.
 */
function hasJudged(q: Pick<Queries, 'transitions' | 'reviews'>, record: ExecutionRecord): boolean {
  const by = actorOf(record)
  const onReview = q.reviews
    .byTask(record.task_id)
    .some((review) => review.verdicts.some((one) => one.by === by && one.created_at > record.created_at))
  if (onReview) return true
  const entries = q.transitions.byTask(record.task_id)
  const begun = entries.findLastIndex((entry) => !isNewerThanRun(entry.id, record))
  return entries
    .slice(Math.max(0, begun))
    .some(({ hooks }) => hooks.some((hook) => hook.action === 'verdict' && hook.reason?.startsWith(`${by}: `)))
}

function hasWritten(q: Pick<Queries, 'comments'>, record: ExecutionRecord): boolean {
  return q.comments
    .byTask(record.task_id)
    .some(
      (comment) =>
        comment.author.type === 'agent' && comment.author.id === record.agent_id && isNewerThanRun(comment.id, record),
    )
}

/** IDs grow with time, and the move that opened an execution is older than the execution. */
function isNewerThanRun(id: string, record: ExecutionRecord): boolean {
  return isLaterId(id, record.id)
}

function actorOf({ agent_id }: ExecutionRecord): string {
  return `agent:${agent_id}`
}
