import type { PageRequest } from '../../ports/issue-trackers.ts'

/** What is particular about one family of trackers. */
export interface TrackerApi {
  /** The address of the first page of open issues. */
  firstPage(source: PageRequest['source'], request: Pick<PageRequest, 'since' | 'page_size'>): string
  headers(token: string): Readonly<Record<string, string>>
  /** How many pages there are, as an answer tells; null when it does not. */
  pagesTotal(answer: {
    readonly links: ReadonlyMap<string, string>
    readonly header: (name: string) => string | null
    readonly page_size: number
  }): number | null
}

/** The number of pages, as the address of the last one says it. */
export function lastPage(links: ReadonlyMap<string, string>): number | null {
  const last = links.get('last')
  const page = Number(last === undefined ? NaN : URL.parse(last)?.searchParams.get('page'))
  return Number.isSafeInteger(page) && page > 0 ? page : null
}

/** `base_url` without slashes at its end, and the path of a repository's issues. */
export function issuesPath({ owner, repo }: PageRequest['source']): string {
  return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/issues`
}
