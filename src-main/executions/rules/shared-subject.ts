/** Words that tasks of any kind have. */
const common = new Set(
  'about after agent also before change changed code could does done each file files fixed from have into just make more need only other please same should some task tests than that their them then there these they this those when where which will with without work would write your'.split(
    ' ',
  ),
)
const leastLetters = 4
const leastWords = 2

export interface Subject {
  readonly title: string
  readonly text: string
}

/**
 * Returns whether two tasks are about the same thing: they name the same file, their titles share a word that tells
 * tasks apart, or all of them shares two.
 */
export function haveSharedSubject(one: Subject, other: Subject): boolean {
  const [first, second] = [`${one.title}\n${one.text}`, `${other.title}\n${other.text}`]
  if (shared(pathsIn(first), pathsIn(second)) > 0) return true
  if (shared(wordsIn(one.title), wordsIn(other.title)) > 0) return true
  return shared(wordsIn(first), wordsIn(second)) >= leastWords
}

const shared = (one: ReadonlySet<string>, other: ReadonlySet<string>): number =>
  [...other].filter((item) => one.has(item)).length

function pathsIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/[\w.-]+(?:\/[\w.-]+)+|[\w-]+\.[a-z][a-z0-9]{0,4}\b/gi) ?? [])
}

function wordsIn(text: string): ReadonlySet<string> {
  const words = new Set<string>()
  for (const { segment, isWordLike } of new Intl.Segmenter('en', { granularity: 'word' }).segment(text.toLowerCase())) {
    // Scripts without spaces have short words.
    const isLong = segment.length >= leastLetters || /^[^\p{Script=Latin}\d]{2,}$/u.test(segment)
    if (isWordLike === true && isLong && !common.has(segment)) words.add(segment)
  }
  return words
}
