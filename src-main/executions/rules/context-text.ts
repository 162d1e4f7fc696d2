import { cutText, firstCharacters } from './knowledge-text.ts'

/** The parent of a task, or a task that it depends on. */
export interface NeighbourTask {
  readonly title: string
  readonly status: string
  readonly description: string | null
  /** The last message of its last worker. */
  readonly summary: string | null
}

const maxParent = 2_000
const maxSummary = 600
const maxComments = 8_000

/** Returns the prompt part about the tasks around an agent's own; null when there are none. */
export function contextText(parent: NeighbourTask | null, builds_on: readonly NeighbourTask[]): string | null {
  const parts: string[] = []
  if (parent) {
    parts.push(`This is a part of “${parent.title}”, which other tasks are parts of too.`)
    if (parent.description) parts.push(quote(cutText(parent.description, maxParent)))
  }
  if (builds_on.length > 0) parts.push('It depends on:')
  for (const { title, status, summary } of builds_on) {
    const lastMessage = summary?.trim() ? `. Its last words:\n\n${quote(cutText(summary.trim(), maxSummary))}` : ''
    parts.push(`- “${title}” (${status})${lastMessage}`)
  }
  return parts.length === 0 ? null : parts.join('\n\n')
}

/** Returns the comments on a task, oldest first; if they are too long, only the newest. Null when there are none. */
export function commentsText(
  comments: readonly { readonly author: { readonly name: string }; readonly body: string }[],
): string | null {
  const told: string[] = []
  let room = maxComments
  for (const { author, body } of [...comments].reverse()) {
    if (room <= 0) break
    const text = `${firstCharacters(author.name, 100)} wrote:\n\n${quote(cutText(body, room))}`
    room -= text.length
    told.unshift(text)
  }
  return told.length === 0 ? null : told.join('\n\n')
}

/** Quotes every line, to separate comments from Copse's own text. */
function quote(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')
}
