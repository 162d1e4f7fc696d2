/** What shows that a run was cut off by a limit of its account, in the words of an API or an agent. */
const limitWords =
  /\b(?:usage|session|weekly|monthly|rate|spending|hour|opus|premium request) limit\b|\blimit reached\b|hit your (?:\w+ )*limit\b|\b(?:exceeded|exhausted|out of) (?:your |the |its )?(?:\w+ )*quota\b|\bquota (?:exceeded|exhausted)\b|\bRESOURCE_EXHAUSTED\b|\binsufficient_quota\b|\brate_limit(?:ed|_exceeded|_error)?\b|\b(?:daily|usage|free|allocated) quota\b|\bexhausted your (?:daily |capacity)|\busage exceeded\b|\bhit a rate limit\b|\bno quota\b|\bquota_exceeded\b|\btoo many requests\b|\b(?:status|error|code)\W{0,4}429\b/i
const maxMessage = 2_000

/** Whether an error is a used-up account or too many requests. Never asked of the model's own words. */
export const isLimitError = (text: string): boolean => limitWords.test(text)

/** Only the very end counts, with the marks that may close it: a question further up is mostly rhetoric. */
export const endsWithQuestion = (words: string): boolean => /[?？؟][*_`"'”’)\]]*$/.test(words.trimEnd())

/** The paragraph that a question stands in, at the end of the words. */
export const lastParagraph = (words: string): string =>
  words
    .trimEnd()
    .split(/\n\s*\n/)
    .at(-1)
    ?.trim() ?? ''

/** A sentence for people; null when there is none. */
export const clipMessage = (words: string): string | null =>
  words === '' ? null : words.length > maxMessage ? `${words.slice(0, maxMessage - 1)}…` : words
