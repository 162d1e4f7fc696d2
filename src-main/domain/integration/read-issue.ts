/** An issue, in the terms of neither tracker. */
export interface ExternalIssue {
  readonly number: number
  readonly title: string
  readonly body: string | null
  readonly labels: readonly string[]
  readonly html_url: string | null
}

/**
 * What one element of a tracker's answer is: an issue, something that is none of an import's business
 * (`other`: a pull request, an issue that is not open), or nothing that makes sense.
 */
export type ReadIssue =
  { readonly kind: 'issue'; readonly issue: ExternalIssue } | { readonly kind: 'other' } | { readonly kind: 'broken' }

/** Reads an element of a list of issues; trusts nothing of it. */
export function readIssue(value: unknown): ReadIssue {
  if (typeof value !== 'object' || value === null) return { kind: 'broken' }
  const { number, title, body, labels, html_url, state, pull_request } = value as Record<string, unknown>
  // Gitea's issues carry the field too, with null.
  if (pull_request !== undefined && pull_request !== null) return { kind: 'other' }
  if (state !== undefined && state !== 'open') return { kind: 'other' }
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1) return { kind: 'broken' }
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
