import type SqliteDatabase from 'better-sqlite3'

/** Further words don't improve the result, and each one is looked up. */
const maxWords = 200
/** Longer than any real word; base64 lines are not words. */
const maxLength = 64
// A letter or digit may carry marks: the tokenizer drops them, but the word continues after them.
const word = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu
// Words in every text. bm25 learns that only from many entries; among few, a stray `how` outweighs the subject.
const fillers = new Set(
  (
    'a an and any are as at be been but by can could do does for from had has have how i if in into is it its ' +
    'may my no not of on or our shall should so than that the their them then there these they this to was we ' +
    'were what when where which who why will with would you your'
  ).split(' '),
)

/**
 * Returns the FTS5 query for entries with any of the text's words, or null without words. Words are quoted and
 * everything else is left out, so nothing is read as an operator.
 */
export function anyWordOf(text: string): string | null {
  const telling = wordsOf(text, fillers)
  const words = telling.size > 0 ? telling : wordsOf(text, new Set())
  return words.size === 0 ? null : Array.from(words, (one) => `"${one}"`).join(' OR ')
}

function wordsOf(text: string, without: ReadonlySet<string>): ReadonlySet<string> {
  const words = new Set<string>()
  for (const [found] of text.matchAll(word)) {
    const one = found.toLowerCase()
    if (one.length <= maxLength && !without.has(one)) words.add(one)
    if (words.size === maxWords) break
  }
  return words
}

/**
 * Makes FTS5 remove words of deleted entries at once, and removes those left until now: by default it only marks the
 * entry as deleted and keeps its words for a long time.
 */
export function forgetDeletedWords(client: SqliteDatabase.Database): void {
  // A file from before there was knowledge.
  if (!client.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'knowledge_text_config'`).get()) return
  if (client.prepare(`SELECT 1 FROM knowledge_text_config WHERE k = 'secure-delete' AND v = 1`).get()) return
  client.exec(`INSERT INTO knowledge_text (knowledge_text) VALUES ('optimize')`)
  client.exec(`INSERT INTO knowledge_text (knowledge_text, rank) VALUES ('secure-delete', 1)`)
}
