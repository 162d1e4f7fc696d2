/** An issue in a form that is independent of the tracker. */
export interface ExternalIssue {
  readonly number: number
  readonly title: string
  readonly body: string | null
  readonly labels: readonly string[]
  readonly html_url: string | null
}

/** An issue that is closed, and since when, ISO 8601 by the tracker's clock; '' where it doesn't tell. */
export interface ClosedIssue {
  readonly number: number
  readonly closed_at: string
}

/**
 * One element of a tracker's response: an issue, a closed one, something that is not imported (`other`: a pull request,
 * an issue in another state), or something unreadable.
 */
export type ReadIssue =
  | { readonly kind: 'issue'; readonly issue: ExternalIssue }
  | { readonly kind: 'closed'; readonly issue: ClosedIssue }
  | { readonly kind: 'other' }
  | { readonly kind: 'broken' }

/** Reads an element of a list of issues; validates every field. */
export function readIssue(value: unknown): ReadIssue {
  if (typeof value !== 'object' || value === null) return { kind: 'broken' }
  const { number, title, body, labels, html_url, state, closed_at, pull_request } = value as Record<string, unknown>
  // Gitea's issues have this field too, with null.
  if (pull_request !== undefined && pull_request !== null) return { kind: 'other' }
  if (state !== undefined && state !== 'open' && state !== 'closed') return { kind: 'other' }
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1) return { kind: 'broken' }
  if (state === 'closed')
    return { kind: 'closed', issue: { number, closed_at: typeof closed_at === 'string' ? closed_at : '' } }
  if (typeof title !== 'string') return { kind: 'broken' }
  if (body !== undefined && body !== null && typeof body !== 'string') return { kind: 'broken' }
  const names = Array.isArray(labels) ? labels.flatMap(labelName) : []
  const page = typeof html_url === 'string' ? html_url : null
  return { kind: 'issue', issue: { number, title, body: body ?? null, labels: names, html_url: page } }
}

function labelName(label: unknown): string[] {
  if (typeof label === 'string') return [label]
  if (typeof label !== 'object' || label === null || !('name' in label)) return []
  return typeof label.name === 'string' ? [label.name] : []
}
