/** Counts as people and most forges do: a pair of surrogates is one character. */
const charactersOf = (text: string) => [...text]

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Shortens a title to `limit` characters, never within one that people see. */
export function shortenTitle(title: string, limit: number): string {
  const line = title.replaceAll(/\s*[\r\n]+\s*/g, ' ').trim()
  if (charactersOf(line).length <= limit) return line
  let kept = ''
  let count = 1
  for (const { segment } of graphemes.segment(line)) {
    count += charactersOf(segment).length
    if (count > limit) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

const cut = '\n\n…\n\n'

/** Shortens a text to `limit` characters by its middle: what marks it as ours may stand at either end. */
export function shortenText(text: string, limit: number): string {
  if (text.length <= limit) return text
  const characters = charactersOf(text)
  if (characters.length <= limit) return text
  const end = Math.min(4_096, Math.floor(limit / 4))
  const begin = limit - end - cut.length
  return `${characters.slice(0, begin).join('')}${cut}${characters.slice(-end).join('')}`
}
