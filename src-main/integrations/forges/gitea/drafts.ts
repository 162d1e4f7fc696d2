import { shortenTitle } from '../shorten.ts'
import type { GiteaPull } from './shapes.ts'

/** Prefixes that a server has unless it is configured otherwise. */
const usualPrefix = /^\s*(?:wip:|\[wip\])\s*/i

/** What looks like a prefix, where the server says that the pull request is a draft. */
const anyPrefix = /^\s*(?:\[[^\]\s]{1,24}\]|[^\s:[\]]{1,24}:)\s*/u

export interface DraftTitle {
  readonly isDraft: boolean
  /** '' where there is none, or it isn't known. */
  readonly prefix: string
  readonly title: string
}

/**
 * Splits a title: a draft is a prefix of it, which a server may be configured for. Servers before 1.21 don't say which
 * pull requests are drafts.
 */
export function readTitle({ title, draft }: Pick<GiteaPull, 'title' | 'draft'>): DraftTitle {
  const isDraft = draft ?? usualPrefix.test(title)
  const prefix = isDraft ? ((usualPrefix.exec(title) ?? anyPrefix.exec(title))?.[0] ?? '') : ''
  return { isDraft, prefix, title: title.slice(prefix.length) }
}

const maxTitle = 255

/** Returns a title that a server reads as that of a draft, or of none. */
export function writeTitle(title: string, isDraft: boolean, prefix = 'WIP: '): string {
  return isDraft ? `${prefix}${shortenTitle(title, maxTitle - prefix.length)}` : shortenTitle(title, maxTitle)
}
