/** What the budget looks at in the audit, oldest first. */
export interface AuditEntry {
  readonly from_state: string
  readonly rejection: boolean
  readonly triggered_by: string
}

/**
 * Rejections of one gate since the last thing that a person did on the task. A person who looks
 * at it gives the agents a new budget, so a person's own rejection never exhausts it.
 */
export function rejectionsSinceUser(audit: readonly AuditEntry[], gate: string): number {
  let count = 0
  for (let at = audit.length - 1; at >= 0; at -= 1) {
    const entry = audit[at]
    if (!entry || entry.triggered_by.startsWith('user:')) break
    if (entry.rejection && entry.from_state === gate) count += 1
  }
  return count
}
