import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { isRecord } from './text.ts'

/** Wording of APIs and agents for a run that a limit of its account cut off. */
const limitWords =
  /\b(?:usage|session|weekly|monthly|rate|spending|hour|opus|premium request) limit\b|\blimit reached\b|hit your (?:\w+ )*limit\b|\b(?:exceeded|exhausted|out of) (?:your |the |its )?(?:\w+ )*quota\b|\bquota (?:exceeded|exhausted)\b|\bRESOURCE_EXHAUSTED\b|\binsufficient_quota\b|\brate_limit(?:ed|_exceeded|_error)?\b|\b(?:daily|usage|free|allocated) quota\b|\bexhausted your (?:daily |capacity)|\busage exceeded\b|\bhit a rate limit\b|\bno quota\b|\bquota_exceeded\b|\btoo many requests\b|\brequests too (?:quickly|fast|often)\b|\b(?:status|error|code|http)\W{0,4}429\b|^\W*429\b|\(429\b|\b429 status code\b/i
const maxMessage = 2_000

/**
 * Returns whether an error message means a used-up account or too many requests. Never applied to the model's
 * messages.
 */
export const isLimitError = (text: string): boolean => limitWords.test(text)

/** Wording by which programs report, in place of an answer, that the model's server refused a request. */
const refusalWords =
  /^(?:exceeded retry limit, last status|unexpected status [45]\d\d|API Error: |You've hit your (?:\w+ )*limit)|^(?:\w+ ){0,2}(?:[Ee]rror|[Ff]ailed)\b.{0,60}(?:\b401 Unauthorized|\b429 Too Many Requests|\(HTTP (?:401|403|429)\))/

/** Returns whether a turn's only message is a program's report that its model's server refused it. */
export const isRefusal = (text: string): boolean => text.length < maxMessage && refusalWords.test(text.trimStart())

/** Returns the text of an API error, which may be JSON in the message. */
export function wordsOfError(message: string): string {
  const json = parseJson(message)
  const error = isRecord(json) && isRecord(json['error']) ? json['error'] : json
  const words = isRecord(error) ? error['message'] : undefined
  return typeof words === 'string' && words !== '' ? words : message
}

/** Looks only at the very end, with closing marks: an earlier question is mostly rhetorical. */
export const endsWithQuestion = (words: string): boolean => /[?？؟][*_`"'”’)\]]*$/.test(words.trimEnd())

/** Returns the last paragraph, which contains the question. */
export const lastParagraph = (words: string): string =>
  words
    .trimEnd()
    .split(/\n\s*\n/)
    .at(-1)
    ?.trim() ?? ''

/** Returns one sentence for people, or null if there is none. */
export const clipMessage = (words: string): string | null =>
  words === '' ? null : words.length > maxMessage ? `${words.slice(0, maxMessage - 1)}…` : words
