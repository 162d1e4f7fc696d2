/** What a template may name. All are texts that were cleared of secrets. */
export interface PullTextFacts {
  readonly title: string
  readonly description: string
  /** The coder's last words; empty without. */
  readonly summary: string
  /** The commands that passed here. */
  readonly checks: readonly string[]
  /** The number of the task's issue in the same repository, and whether the merge is to close it. */
  readonly issue: { readonly number: number; readonly closes: boolean } | null
  readonly task: { readonly id: string; readonly ref: string }
}

/** Without the coder's words: they may name paths of this machine. */
const defaultBody = '{description}\n\n{checks}\n\n{issue}'
const defaultTitle = '{title}'

const maxTitle = 250
const maxBody = 60_000

/** Returns the title by a template (null: the task's title): one line, as long as every forge takes it. */
export function pullTitle(template: string | null, facts: PullTextFacts): string {
  const filled = fill(template ?? defaultTitle, facts)
    .replaceAll(/\s+/g, ' ')
    .trim()
  const characters = Array.from(filled === '' ? facts.title : filled)
  return characters.length <= maxTitle ? characters.join('') : `${characters.slice(0, maxTitle - 1).join('')}…`
}

/** Returns the text of Copse's block by a template. */
export function pullBlock(template: string | null, facts: PullTextFacts): string {
  return fill(template ?? defaultBody, facts)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
    .slice(0, maxBody)
}

function fill(template: string, { title, description, summary, checks, issue, task }: PullTextFacts): string {
  const values: Readonly<Record<string, string>> = {
    title,
    description: withoutMarkers(description),
    summary: withoutMarkers(summary),
    checks: checksText(checks),
    issue: issue === null ? '' : `${issue.closes ? 'Closes' : 'For'} #${issue.number}`,
    task: task.ref,
  }
  return template.replaceAll(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all)
}

function checksText(checks: readonly string[]): string {
  if (checks.length === 0) return ''
  return `Passed before the push: ${checks.map((command) => inCode(command)).join(', ')}.`
}

/** A command with backticks would end its own quotation. */
const inCode = (command: string): string => (command.includes('`') ? `\`\` ${command} \`\`` : `\`${command}\``)

// What Copse writes carries a mark that pages don't show. It tells Copse's own writing from that of people who use the
// same account, and a write that was sent before a crash from one that wasn't.

const blockStart = (task_id: string) => `<!-- copse:task ${task_id} -->`
const blockEnd = '<!-- /copse:task -->'
const anyMarker = /<!--\s*\/?copse:.*?-->/gs

const withoutMarkers = (text: string): string => text.replaceAll(anyMarker, '')

/** Returns the text of a new pull request. */
export function newBody(task_id: string, block: string): string {
  return `${blockStart(task_id)}\n${block}\n${blockEnd}`
}

/** Returns a text with Copse's block replaced; null if a person has removed the block. */
export function replaceBlock(body: string, task_id: string, block: string): string | null {
  const from = body.indexOf(blockStart(task_id))
  const to = from < 0 ? -1 : body.indexOf(blockEnd, from)
  if (to < 0) return null
  return body.slice(0, from) + newBody(task_id, block) + body.slice(to + blockEnd.length)
}

/** Returns whether a pull request's text says that it was opened for this task. */
export const isOfTask = (body: string, task_id: string): boolean => body.includes(blockStart(task_id))

/** Returns a comment's text with the mark of the intent that it is sent for. */
export const markComment = (body: string, intent_id: string): string =>
  `${withoutMarkers(body)}\n\n<!-- copse:intent ${intent_id} -->`

export const hasIntent = (body: string, intent_id: string): boolean =>
  body.includes(`<!-- copse:intent ${intent_id} -->`)

/** Returns whether Copse wrote a text, with any account. */
export const isOurs = (body: string): boolean => /<!--\s*copse:(?:intent|task) /.test(body)

/** Returns a text of the forge without Copse's marks. */
export const shownText = (body: string): string => withoutMarkers(body).trim()
