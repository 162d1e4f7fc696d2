/** A half-open range of a text that must not be shown. */
export interface Span {
  readonly start: number
  readonly end: number
}

export type RedactionRule = (text: string) => readonly Span[]

/**
 * Rules for secrets with a known shape. Each expression is bounded or always consumes what it examined, so that its
 * time is linear in the text.
 */
export const builtInRules: readonly RedactionRule[] = [
  where((text) => keyHead.test(text), keys),
  where((text) => text.includes('yJ'), jsonWebTokens),
  where((text) => headerHead.test(text), headers),
  where((text) => /bearer/i.test(text), bearers),
  where((text) => text.includes('@') && text.includes('://'), passwords),
  where((text) => text.includes('ken='), queries),
  where((text) => assignmentHead.test(text), assignments),
  where((text) => text.includes('KEY-----'), privateKeys),
]

/**
 * Skips a rule by a quick check, because nearly all text has no match and the search costs three times as much. A check
 * looks for a part that begins with a rare character: `includes` stops at each of its first.
 */
function where(mayHold: (text: string) => boolean, rule: RedactionRule): RedactionRule {
  return (text) => (mayHold(text) ? rule(text) : none)
}
const none: readonly Span[] = []

/** Key prefix → minimum number of characters after it. Tool names (`svc_create_task`) are shorter. */
const keyLengths: readonly (readonly [prefix: string, length: number])[] = [
  ['svc_', 40],
  ['svcd_', 40],
  ['sk-', 20],
  ['sk_live_', 16],
  ['sk_test_', 16],
  ['rk_live_', 16],
  ['ghp_', 30],
  ['gho_', 30],
  ['ghu_', 30],
  ['ghs_', 30],
  ['ghr_', 30],
  ['github_pat_', 30],
  ['glpat-', 20],
  ['npm_', 30],
  ['xoxb-', 20],
  ['xoxp-', 20],
  ['xapp-', 20],
  ['hf_', 30],
  ['AKIA', 16],
  ['ASIA', 16],
  ['AIza', 30],
]
const keyStart = new RegExp(keyLengths.map(([prefix]) => prefix).join('|'), 'g')
/**
 * The prefixes up to their rarest character, searched first because that is ten times faster than searching all of
 * them.
 */
const keyHead = new RegExp(
  `[-_KSI](?<=${keyLengths.map(([prefix]) => /^.*[-_]|^A[KSI]/.exec(prefix)?.[0] ?? prefix).join('|')})`,
)
const keyCharacter = /[\w-]/

function keys(text: string): readonly Span[] {
  const spans: Span[] = []
  let end = 0
  for (const match of text.matchAll(keyStart)) {
    if (match.index < end || /[A-Za-z0-9]/.test(text[match.index - 1] ?? '')) continue
    const needed = keyLengths.find(([prefix]) => prefix === match[0])?.[1] ?? 0
    const from = match.index + match[0].length
    const probe = text.slice(from, from + needed)
    if (probe.length < needed || !/^[\w-]*$/.test(probe)) continue
    // Hyphenated words may begin the same (`sk-circle-fade-in-animation`); a key of this length contains digits.
    if (match[0] === 'sk-' && !/\d/.test(probe)) continue
    end = from + needed
    while (keyCharacter.test(text[end] ?? '')) end++
    spans.push({ start: match.index, end })
  }
  return spans
}

function jsonWebTokens(text: string): readonly Span[] {
  return spansOf(text, /eyJ[\w-]*(?:\.[\w-]*){0,2}/g, (match) => {
    const parts = match[0].split('.')
    return parts.length === 3 && parts.every((part) => part.length >= 4) ? 0 : null
  })
}

const scheme = '(?:bearer|basic|token|digest)'

const headerExpression = new RegExp(
  String.raw`((?:authorization|x-api-key|private-token)["'\\]{0,4}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,4})(${scheme}[ \t]{1,4})?([\w.~+/=-]{4,})`,
  'gi',
)
/** The headers' names up to their rarest character. */
const headerHead = /[z-](?<=authoriz|x-|private-)/i

/** Finds `Authorization: Basic …`, also as JSON and as JSON inside JSON. */
function headers(text: string): readonly Span[] {
  return spansOf(text, headerExpression, (match) => {
    const [, name = '', kind = '', value = ''] = match
    return kind !== '' || looksRandom(value) ? name.length + kind.length : null
  })
}

function bearers(text: string): readonly Span[] {
  return spansOf(text, /(\bbearer[ \t]{1,4})([\w.~+/=-]{16,})/gi, ([, name = '', value = '']) =>
    looksRandom(value) ? name.length : null,
  )
}

/** Finds `https://user:password@host`. */
function passwords(text: string): readonly Span[] {
  return spansOf(text, /(:\/\/[^\s/:@]{0,256}:)([^\s/:@]{1,256})@/g, ([, before = '']) => before.length, 1)
}

/** Finds `?token=…`. */
function queries(text: string): readonly Span[] {
  return spansOf(text, /([?&](?:access_)?token=)([\w.~-]{8,})/g, ([, before = '']) => before.length)
}

const passwordNames = 'password|passwd|passphrase|pwd'
const secretNames = 'secret|api_?key|access_?key|secret_?key|client_?secret|auth_?token|access_?token'
/** An assignment sign after such a name; the sign is the rarer part, so it is searched first. */
const assignmentHead = new RegExp(
  String.raw`[:=](?<=(?:${passwordNames}|${secretNames.replaceAll('_?', '[_-]?')})["'\\]{0,2}[ \t]{0,2}[:=])`,
  'i',
)
const assignmentExpression = new RegExp(
  String.raw`((${passwordNames})|${secretNames.replaceAll('_?', '[_-]?')})(["'\\]{0,2}[ \t]{0,2}[:=])([ \t]{0,2}["'\\]{0,2})([\w.~+/=!@#%^*?-]{4,})`,
  'gi',
)

/**
 * Finds `password=…`, `AWS_SECRET_ACCESS_KEY=…`, `"api_key": "…"`. A call or a variable that code assigns is no
 * secret.
 */
function assignments(text: string): readonly Span[] {
  return spansOf(text, assignmentExpression, ([, name = '', password, sign = '', quote = '', value = '']) => {
    const isWritten = /["']/.test(quote) ? value.length >= 6 : sign === '=' && quote === ''
    const isSecret = password === undefined ? looksRandom(value) : isWritten
    return isSecret ? name.length + sign.length + quote.length : null
  })
}

const keyBegin = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g
const keyEnd = /-----END [A-Z ]{0,40}PRIVATE KEY-----/g

/** Finds private keys in PEM, up to their end or, without one, to the end of the text. */
function privateKeys(text: string): readonly Span[] {
  const spans: Span[] = []
  keyBegin.lastIndex = 0
  for (let begin = keyBegin.exec(text); begin; begin = keyBegin.exec(text)) {
    keyEnd.lastIndex = keyBegin.lastIndex
    const end = keyEnd.exec(text)
    spans.push({ start: begin.index, end: end ? keyEnd.lastIndex : text.length })
    if (!end) break
    keyBegin.lastIndex = keyEnd.lastIndex
  }
  return spans
}

/** Returns the start of a private key that has no end yet, or -1. */
export function openKeyAt(text: string): number {
  const start = text.lastIndexOf('-----BEGIN ')
  if (start < 0) return -1
  keyBegin.lastIndex = start
  const begin = keyBegin.exec(text)
  if (begin?.index !== start) return -1
  keyEnd.lastIndex = keyBegin.lastIndex
  return keyEnd.test(text) ? -1 : start
}

/** Returns the end of a private key that began before the text, or 0. */
export function closedKeyEnd(text: string): number {
  keyEnd.lastIndex = 0
  if (!keyEnd.test(text)) return 0
  const end = keyEnd.lastIndex
  keyBegin.lastIndex = 0
  const begin = keyBegin.exec(text)
  return begin !== null && begin.index < end ? 0 : end
}

const looksRandom = (value: string): boolean => value.length >= 16 && /\d/.test(value)

/**
 * Returns the ranges of matches. `skip` returns how many characters of a match to show before the secret; null: not a
 * secret.
 */
function spansOf(
  text: string,
  expression: RegExp,
  skip: (match: RegExpExecArray) => number | null,
  showAtEnd = 0,
): readonly Span[] {
  const spans: Span[] = []
  for (const match of text.matchAll(expression)) {
    const shown = skip(match)
    if (shown !== null) {
      spans.push({ start: match.index + shown, end: match.index + match[0].length - showAtEnd })
    }
  }
  return spans
}

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Shorter secrets also occur inside of words and numbers, so they are hidden only as whole words. */
const safeLength = 8
/** Shorter ones are ordinary words, so they are hidden only where a credential stands. */
const wordLength = 6

/** What stands before a credential: the name of one and a sign, an authorization scheme, or the user of an address. */
const credentialPosition = String.raw`(?<=(?:token|secret|passw(?:or)?d|passphrase|pwd|key|credentials?|authorization)["'\\]{0,4}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,4}(?:${scheme}[ \t]{1,4})?|\b${scheme}[ \t]{1,4}|:\/\/[^\s/:@]{0,64}:)`
const wordStart = String.raw`(?<![\p{L}\p{N}_])`
const wordEnd = String.raw`(?![\p{L}\p{N}_])`

/**
 * Returns a rule for literal secrets, also as escaped in a JSON string. Each line of a multi-line secret counts
 * separately.
 */
export function literalRule(secrets: readonly string[]): RedactionRule | null {
  const lines = secrets.flatMap((secret) => secret.split(/\r?\n/)).map((line) => line.trim())
  const rules = [
    formsRule(
      lines.filter((line) => line.length >= safeLength),
      (forms) => new RegExp(forms, 'g'),
    ),
    formsRule(
      lines.filter((line) => line.length >= wordLength && line.length < safeLength),
      (forms) => new RegExp(`${wordStart}(?:${forms})${wordEnd}`, 'gu'),
    ),
    // Lines of a longer secret, such as the braces of a key file, are no secrets.
    formsRule(
      secrets.map((secret) => secret.trim()).filter((secret) => secret !== '' && secret.length < wordLength),
      (forms) => new RegExp(`${credentialPosition}(?:${forms})${wordEnd}`, 'giu'),
    ),
  ].filter((rule) => rule !== null)
  return rules.length === 0 ? null : (text) => rules.flatMap((rule) => rule(text))
}

function formsRule(values: readonly string[], expressionOf: (forms: string) => RegExp): RedactionRule | null {
  const forms = values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])
  if (forms.length === 0) return null
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length)
  const some = new RegExp(longestFirst.map((form) => escape(form)).join('|'), 'i')
  const every = expressionOf(longestFirst.map((form) => escape(form)).join('|'))
  return where(
    (text) => some.test(text),
    (text) => spansOf(text, every, () => 0),
  )
}
