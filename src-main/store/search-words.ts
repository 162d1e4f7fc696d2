/** Longer than any real word; base64 lines are not words. */
const maxLength = 64
/** Further words don't improve the result, and each one is looked up. */
const maxWords = 50

/** Letters without a decomposition to fold. */
const otherForms: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  þ: 'th',
  ς: 'σ',
}
const otherForm = new RegExp(`[${Object.keys(otherForms).join('')}]`, 'gu')
const accents =
  /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}]\p{M}*)\p{M}/gu

// Scripts without spaces between words: each character is indexed as a word, and a run of them searched as a phrase,
// so that it is found anywhere. Emoji are treated alike.
const unspaced =
  '[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Bopomofo}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}\\p{Extended_Pictographic}]'
const isWordPart = '[\\p{L}\\p{N}\\p{M}\\p{Co}]'
const isUnspaced = new RegExp(`(?=[\\p{L}\\p{N}\\p{M}\\p{So}])(?![0-9#*])${unspaced}`, 'u')
/** A run of characters between spaces and punctuation. */
const run = new RegExp(`(?:${isWordPart}|(?![0-9#*©®])\\p{Extended_Pictographic})+`, 'gu')

// Most text is ASCII, for which there is a much shorter way.
const isPlain = /^[\x00-\x7f]*$/
const plainRun = /[a-z0-9]+/g

/**
 * Removes differences that a search ignores: case, accents, the width of letters, and spelling variants (`ß`, `ss`).
 */
function fold(text: string): string {
  const lower = text.normalize('NFKD').toLowerCase().replace(accents, '')
  return lower.replace(otherForm, (letter) => otherForms[letter] ?? letter).normalize('NFC')
}

/** Returns the words of a text as the index has them, separated by spaces. */
export function searchWords(text: string): string {
  if (isPlain.test(text))
    return (text.toLowerCase().match(plainRun) ?? []).map((word) => word.slice(0, maxLength)).join(' ')
  const words: string[] = []
  for (const [found] of fold(text).matchAll(run)) words.push(...piecesOf(found))
  return words.join(' ')
}

/**
 * Returns the FTS5 query for texts with every word of the question as a prefix, in any order, or null without words.
 * Words are quoted, so nothing is an operator.
 */
export function everyWordOf(question: string): string | null {
  const phrases = new Set<string>()
  for (const [found] of fold(question).matchAll(run)) {
    phrases.add(`"${piecesOf(found).join(' ')}"*`)
    if (phrases.size === maxWords) break
  }
  return phrases.size === 0 ? null : [...phrases].join(' AND ')
}

function piecesOf(found: string): readonly string[] {
  if (!isUnspaced.test(found)) return [found.slice(0, maxLength)]
  const pieces: string[] = []
  let word = ''
  const end = () => {
    if (word !== '') pieces.push(word.slice(0, maxLength))
    word = ''
  }
  for (const character of found) {
    if (!isUnspaced.test(character)) {
      word += character
      continue
    }
    end()
    pieces.push(character)
  }
  end()
  return pieces
}
