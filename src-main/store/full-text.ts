import type SqliteDatabase from 'better-sqlite3'

/** More words find nothing better, and every one is looked up. */
const maxWords = 200
/** Nobody writes a longer word, and a line of base64 is none. */
const maxLength = 64
// A letter or digit may carry marks: the tokenizer drops them, but the word goes on after them.
const word = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu
// They stand in every text. bm25 knows that only from many entries; among few, a stray `how` outweighs the matter.
const fillers = new Set(
  (
    'a an and any are as at be been but by can could do does for from had has have how i if in into is it its ' +
    'may my no not of on or our shall should so than that the their them then there these they this to was we ' +
    'were what when where which who why will with would you your'
  ).split(' '),
)

/**
 * The FTS5 query for entries that have any of the text's words, or null when it has none. Nothing of the text
 * is read as an operator: each word is quoted, and what isn't part of one is left out.
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
 * By itself FTS5 only notes that an entry was deleted, and keeps its words in the index for a long time. Says once and
 * for all that they are to go at once, and takes out those that were left until now.
 */
export function forgetDeletedWords(client: SqliteDatabase.Database): void {
  // A file from before there was any knowledge.
  if (!client.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'knowledge_text_config'`).get()) return
  if (client.prepare(`SELECT 1 FROM knowledge_text_config WHERE k = 'secure-delete' AND v = 1`).get()) return
  client.exec(`INSERT INTO knowledge_text (knowledge_text) VALUES ('optimize')`)
  client.exec(`INSERT INTO knowledge_text (knowledge_text, rank) VALUES ('secure-delete', 1)`)
}
