/** Wording of APIs and agents for a run that a limit of its account cut off. */
const limitWords =
  /\b(?:usage|session|weekly|monthly|rate|spending|hour|opus|premium request) limit\b|\blimit reached\b|hit your (?:\w+ )*limit\b|\b(?:exceeded|exhausted|out of) (?:your |the |its )?(?:\w+ )*quota\b|\bquota (?:exceeded|exhausted)\b|\bRESOURCE_EXHAUSTED\b|\binsufficient_quota\b|\brate_limit(?:ed|_exceeded|_error)?\b|\b(?:daily|usage|free|allocated) quota\b|\bexhausted your (?:daily |capacity)|\busage exceeded\b|\bhit a rate limit\b|\bno quota\b|\bquota_exceeded\b|\btoo many requests\b|\b(?:status|error|code)\W{0,4}429\b/i
const maxMessage = 2_000

/**
 * Returns whether an error message means a used-up account or too many requests. Never applied to the model's
 * messages.
 */
export const isLimitError = (text: string): boolean => limitWords.test(text)

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
