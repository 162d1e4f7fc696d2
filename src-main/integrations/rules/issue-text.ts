import { withoutControls } from '../../../src-shared/lang/hidden-characters.ts'
import type { FilesPlace } from './issue-address.ts'
import { withWholeAddresses } from './picture-addresses.ts'
import type { ExternalIssue } from './read-issue.ts'

/** The contract's limit for a task, in characters. */
const maxTitle = 500
const maxDescription = 1_000_000
const maxLabels = 50
const maxLabel = 50

/** The URL of an issue's page, and where its files are. */
interface Page {
  readonly url: string
  readonly files: FilesPlace
}

interface TaskText {
  readonly title: string
  readonly description: string | null
  readonly labels: string[]
}

/** Returns title and description of a task imported from an issue. The issue's body stays as it was written. */
export function taskTextOf(issue: ExternalIssue, page: Page): TaskText {
  const labels = issue.labels
    .map((label) => withoutControls(label).trim().slice(0, maxLabel))
    .filter((label) => label !== '')
  const title = withoutControls(issue.title).trim()
  return {
    title: title === '' ? `Issue #${issue.number}` : fit(title, maxTitle, '…'),
    description: issue.body === null || issue.body.trim() === '' ? null : descriptionOf(issue.body, page),
    labels: [...new Set(labels)].slice(0, maxLabels),
  }
}

function descriptionOf(body: string, { url, files }: Page): string {
  const note = `\n\n… This issue is longer than a task can be. All of it: ${url}`
  return fit(withWholeAddresses(fit(body, maxDescription, note), files), maxDescription, note)
}

/** Shortens a text without cutting a character in two. */
function fit(text: string, maxLength: number, end: string): string {
  if (text.length <= maxLength) return text
  const start = text.slice(0, maxLength - end.length)
  return `${/[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start}${end}`
}
