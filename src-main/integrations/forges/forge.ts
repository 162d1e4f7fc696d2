import type { PageRequest } from '../../ports/issue-trackers.ts'

/** The differences between families of trackers. */
export interface TrackerApi {
  /** Returns the address of the first page of open issues. */
  firstPage(source: PageRequest['source'], request: Pick<PageRequest, 'since' | 'page_size'>): string
  /** The query key of the number of issues on a page. */
  readonly sizeKey: string
  headers(token: string): Readonly<Record<string, string>>
  /** Returns the number of pages in a response, or null. */
  pagesTotal(answer: {
    readonly links: ReadonlyMap<string, string>
    readonly header: (name: string) => string | null
    readonly page_size: number
  }): number | null
}

/** Returns the number of pages from the last one's address. */
export function lastPage(links: ReadonlyMap<string, string>): number | null {
  const last = links.get('last')
  const page = Number(last === undefined ? NaN : URL.parse(last)?.searchParams.get('page'))
  return Number.isSafeInteger(page) && page > 0 ? page : null
}

/** Returns `base_url` without trailing slashes, with the path of a repository's issues. */
export function issuesPath({ owner, repo }: PageRequest['source']): string {
  return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/issues`
}
