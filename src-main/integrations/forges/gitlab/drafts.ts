import { shortenTitle } from '../shorten.ts'

/** May stand there more than once. */
const prefix = /^\s*(?:(?:\[draft\]|\(draft\)|draft:)\s*)+/i

const maxTitle = 255

/** Returns a title without what makes it that of a draft. */
export function readTitle(title: string, isDraft: boolean): string {
  return isDraft ? title.replace(prefix, '') : title
}

/** Servers before 13.2 don't say which are drafts. */
export function isDraft({
  title,
  draft,
}: {
  readonly title: string
  readonly draft?: boolean | null | undefined
}): boolean {
  return draft ?? prefix.test(title)
}

export function writeTitle(title: string, asDraft: boolean): string {
  const start = asDraft ? 'Draft: ' : ''
  return `${start}${shortenTitle(title, maxTitle - start.length)}`
}
