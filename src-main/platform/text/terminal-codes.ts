/** The escape character, also as JSON and programs write it. */
const escape = String.raw`(?:\x1b|\\u001[bB]|\\x1[bB])`
const controlSequence = String.raw`\[[0-?]*[ -/]*[@-~]`
/** Titles, links and other strings, up to their end. */
const controlString = String.raw`[\]PX^_][^\x07\x1b\\\r\n]*(?:\x07|\\u0007|\x1b\\|\\u001[bB]\\{1,2})?`
const expression = new RegExp(
  String.raw`(?:\r(?=${escape}\[\d*[CG]))?${escape}(?:${controlSequence}|${controlString}|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]|[\0-\x07\x0e-\x1a\x7f]`,
  'g',
)
const controlCharacter = /[\0-\x08\x0e-\x1b\x7f\x9b]/
/** Three searches take a third of the time of one for all, and nearly all text passes here. */
const mayHaveCodes = (text: string): boolean =>
  controlCharacter.test(text) || text.includes(String.raw`\u001`) || text.includes(String.raw`\x1`)

/** Returns the text without colors, cursor moves and other control characters, and with backspaces applied. */
export function withoutTerminalCodes(text: string): string {
  const plain = text.replaceAll(expression, '')
  return plain.includes('\b') ? applyBackspaces(plain) : plain
}

function applyBackspaces(text: string): string {
  const shown: string[] = []
  for (const character of text) {
    if (character !== '\b') shown.push(character)
    else if (shown.at(-1) !== '\n') shown.pop()
  }
  return shown.join('')
}

/**
 * Extends a redactor to secrets with terminal codes in them. A line with such a secret loses its codes; if the secret
 * has more lines, all of the text does.
 */
export function redactAcrossCodes(redact: (text: string) => string): (text: string) => string {
  const hasMore = (text: string) => {
    const plain = withoutTerminalCodes(text)
    return redact(plain) !== plain
  }
  const redactLine = (line: string) => (mayHaveCodes(line) && hasMore(line) ? redactPlain(line) : line)
  const redactPlain = (text: string) => redact(withoutTerminalCodes(text))
  return (text) => {
    const shown = redact(text)
    if (!mayHaveCodes(shown) || !hasMore(shown)) return shown
    const byLine = shown.split('\n').map(redactLine).join('\n')
    const plain = redactPlain(shown)
    return withoutTerminalCodes(byLine) === plain ? byLine : plain
  }
}
