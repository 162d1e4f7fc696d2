/** A piece of knowledge as agents are told it. */
export interface KnowledgeItem {
  readonly title: string
  readonly body: string
  readonly source: { readonly by: string; readonly task_id: string | null }
}

/** What agents are told, and what it takes of their attention. */
export interface InjectedKnowledge {
  readonly text: string
  readonly entries: number
  readonly tokens: number
}

/** What a task leaves behind that others may want to know. */
export interface CapturedKnowledge {
  /** What its worker said at the end. */
  readonly summary: string | null
  /** What its gates sent it back for, oldest first. */
  readonly rejections: readonly { readonly gate: string; readonly feedback: string }[]
}

const charactersPerToken = 4
/** With it the text stands by itself; a prompt has its own heading. */
export const knowledgeTitle = '# What is known about this project\n\n'
const heading = `${knowledgeTitle}Notes from people and from earlier tasks, the most relevant first. They may be out of date: where the code says otherwise, believe the code.`
const cutMark = '\n\n(Cut here: the rest is left out.)'
/** Less of a body than this tells nobody anything. */
const leastBody = 200
const keptRejections = 5
const maxFeedback = 1_000

/** How many tokens a text is to a model, roughly: a quarter of its characters, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / charactersPerToken)
}

/**
 * As many of the entries, given the most relevant first, as fit a budget of tokens, each with its title, its
 * source and its body. One that is too long for what is left is cut and says so. Null when nothing fits.
 */
export function composeKnowledge(entries: readonly KnowledgeItem[], max_tokens: number): InjectedKnowledge | null {
  const limit = max_tokens * charactersPerToken
  let text = heading
  let count = 0
  for (const entry of entries) {
    const head = `\n\n## ${oneLine(entry.title)}\n\nSource: ${sourceOf(entry)}\n\n`
    const room = limit - text.length - head.length
    if (entry.body.length > room && room < leastBody) continue
    text += head + cutText(entry.body, room)
    count += 1
  }
  return count === 0 ? null : { text, entries: count, tokens: estimateTokens(text) }
}

/** A task's lesson in at most `max_characters`; null when there is nothing to say. */
export function composeCapture(lesson: CapturedKnowledge, max_characters: number): string | null {
  const summary = lesson.summary?.trim() ?? ''
  const rejections = lesson.rejections.filter((one) => one.feedback.trim() !== '').slice(-keptRejections)
  if (rejections.length === 0) return summary === '' ? null : cutText(summary, max_characters)
  const room = Math.floor((max_characters * 3) / 4)
  const parts = summary === '' ? [] : [cutText(summary, room)]
  parts.push('## What it was sent back for')
  for (const { gate, feedback } of rejections)
    parts.push(`### ${oneLine(gate)}\n\n${cutText(feedback.trim(), maxFeedback)}`)
  return cutText(parts.join('\n\n'), max_characters)
}

/** A text that is too long, cut between two characters, with a remark that it was cut. */
export function cutText(text: string, max_characters: number): string {
  if (text.length <= max_characters) return text
  const kept = firstCharacters(text, max_characters - cutMark.length).trimEnd()
  return kept === '' ? firstCharacters(text, max_characters) : kept + cutMark
}

/** The beginning of a text, without half a character at its end: what belongs together stays together. */
export function firstCharacters(text: string, max_characters: number): string {
  if (text.length <= max_characters) return text
  if (max_characters <= 0) return ''
  // The character that stands across the limit begins where the text ends.
  return text.slice(0, new Intl.Segmenter('en').segment(text).containing(max_characters)?.index ?? max_characters)
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function sourceOf({ source }: KnowledgeItem): string {
  return source.task_id === null ? source.by : `${source.by}, from task ${source.task_id}`
}
