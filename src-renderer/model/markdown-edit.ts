/** A text with its selection. */
export interface Edit {
  readonly text: string
  readonly start: number
  readonly end: number
}

export type MarkdownAction = 'bold' | 'italic' | 'code' | 'link' | 'list' | 'checklist' | 'quote'

const marks = { bold: '**', italic: '_' } as const
const prefixes = { list: '- ', checklist: '- [ ] ', quote: '> ' } as const

/** Applies a toolbar action to a text. A second call removes the mark. */
export function applyMarkdown(edit: Edit, action: MarkdownAction): Edit {
  if (action === 'bold' || action === 'italic') return around(edit, marks[action])
  if (action === 'code') return selected(edit).includes('\n') ? fenced(edit) : around(edit, '`')
  if (action === 'link') return linked(edit)
  return prefixed(edit, prefixes[action])
}

const selected = ({ text, start, end }: Edit): string => text.slice(start, end)

/** Replaces the selection, and selects `from` to `to` within the replacement. */
export function replaceSelection({ text, start, end }: Edit, by: string, from = by.length, to = from): Edit {
  return { text: text.slice(0, start) + by + text.slice(end), start: start + from, end: start + to }
}

function around(edit: Edit, mark: string): Edit {
  const { text, start, end } = edit
  const { length } = mark
  if (text.slice(start - length, start) === mark && text.slice(end, end + length) === mark) {
    const bare = text.slice(0, start - length) + text.slice(start, end) + text.slice(end + length)
    return { text: bare, start: start - length, end: end - length }
  }
  const words = selected(edit)
  return replaceSelection(edit, mark + words + mark, length, length + words.length)
}

function fenced(edit: Edit): Edit {
  const words = selected(edit)
  const before = edit.start === 0 || edit.text[edit.start - 1] === '\n' ? '' : '\n'
  const first = `${before}\`\`\`\n`
  return replaceSelection(edit, `${first}${words}\n\`\`\`\n`, first.length, first.length + words.length)
}

/**
 * Turns the selection into a link. Selects the part to type next: the label of a selected address,
 * else the address.
 */
function linked(edit: Edit): Edit {
  const words = selected(edit)
  if (/^https?:\/\/\S+$/.test(words)) return replaceSelection(edit, `[](${words})`, 1)
  return replaceSelection(edit, `[${words}](url)`, words.length + 3, words.length + 6)
}

function prefixed({ text, start, end }: Edit, prefix: string): Edit {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const lineEnd = text.indexOf('\n', Math.max(end - (end > start && text[end - 1] === '\n' ? 1 : 0), from))
  const to = lineEnd === -1 ? text.length : lineEnd
  const lines = text.slice(from, to).split('\n')
  const isSet = lines.every((line) => line.startsWith(prefix))
  const changed = lines.map((line) => (isSet ? line.slice(prefix.length) : prefix + line)).join('\n')
  const whole = text.slice(0, from) + changed + text.slice(to)
  if (start !== end) return { text: whole, start: from, end: from + changed.length }
  const at = Math.max(from, start + (isSet ? -prefix.length : prefix.length))
  return { text: whole, start: at, end: at }
}

/** Returns the path being typed after an `@`, and the index of the `@`; null if there is none. */
export function pathBeing({ text, start, end }: Edit): { readonly query: string; readonly at: number } | null {
  if (start !== end) return null
  const match = /(^|[\s(["'])@([^\s@`"')\]]*)$/.exec(text.slice(Math.max(0, start - 250), start))
  const [, before = '', query = ''] = match ?? []
  const at = start - query.length - 1
  return match && (at === 0 || before !== '') ? { query, at } : null
}
