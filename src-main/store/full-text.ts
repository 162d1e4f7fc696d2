/** More words find nothing better, and every one is looked up. */
const maxWords = 200
// A letter or digit may carry marks: the tokenizer drops them, but the word goes on after them.
const word = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu
/** Nobody writes a longer one, and a line of base64 is none. */
const maxLength = 64

/**
 * The FTS5 query for entries that have any of the text's words, or null when it has none. Nothing of the text
 * is read as an operator: each word is quoted, and what isn't part of one is left out.
 */
export function anyWordOf(text: string): string | null {
  const words = new Set<string>()
  for (const [found] of text.matchAll(word)) {
    if (found.length <= maxLength) words.add(found.toLowerCase())
    if (words.size === maxWords) break
  }
  return words.size === 0 ? null : Array.from(words, (one) => `"${one}"`).join(' OR ')
}
