const fence = /^ {0,3}(?:`{3,}|~{3,})[ \t]*suggestion[ \t]*$/

/** Returns the lines of a comment's ```suggestion block, which replace the commented lines; null without a block. */
export function suggestionIn(body: string): readonly string[] | null {
  const lines = body.split(/\r?\n/)
  const begin = lines.findIndex((line) => fence.test(line))
  const opening = /[`~]{3,}/.exec(lines[begin] ?? '')?.[0]
  if (opening === undefined) return null
  const length = lines.slice(begin + 1).findIndex((line) => closes(line, opening))
  return length < 0 ? null : lines.slice(begin + 1, begin + 1 + length)
}

/** Returns a comment without its suggestion, which is shown as a change of lines. */
export function withoutSuggestion(body: string): string {
  const suggested = suggestionIn(body)
  if (suggested === null) return body
  const lines = body.split(/\r?\n/)
  const begin = lines.findIndex((line) => fence.test(line))
  return [...lines.slice(0, begin), ...lines.slice(begin + suggested.length + 2)].join('\n').trim()
}

/** Returns a block that suggests these lines; its fence is longer than any in them. */
export function suggestionBlock(lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.map((line) => /`+/.exec(line)?.[0].length ?? 0))
  const marks = '`'.repeat(longest + 1)
  return [`${marks}suggestion`, ...lines, marks].join('\n')
}

function closes(line: string, opening: string): boolean {
  const marks = line.trim()
  return marks.length >= opening.length && marks === opening.charAt(0).repeat(marks.length) && !line.startsWith('    ')
}
