import type { ExecutionRecord, Queries } from '../ports/store.ts'

/** What an agent did over the API while it ran: the last thing that is expected of it, something that shows, or nothing. */
export type AgentActivity = 'completed' | 'commented' | 'nothing'

/**
 * What the agent of this execution did for its task over the API since the execution was opened. A verdict or a
 * move is its part; a comment is a word, like one that it prints.
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

/** A verdict stands on its review; at a gate without one it stands with the entry into the gate, as long as it holds. */
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

/** Ids grow with time, and the move that opened an execution is older than it. */
function isNewerThanRun(id: string, record: ExecutionRecord): boolean {
  return id > String(record.id)
}

function actorOf({ agent_id }: ExecutionRecord): string {
  return `agent:${agent_id}`
}
