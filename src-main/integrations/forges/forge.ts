import type { PageRequest } from '../../ports/issue-trackers.ts'

/**
 * A kind of forge: what differs between their APIs. What clients know of it is in `trackerInfos`; its pull requests
 * will stand beside its issues.
 */
export interface Forge {
  readonly issues: IssueApi
  /** Headers that authenticate a request. */
  headers(token: string): Readonly<Record<string, string>>
}

/** How a forge's open issues are listed. */
interface IssueApi {
  /** Returns the address of the first page of open issues. */
  firstPage(source: PageRequest['source'], request: Pick<PageRequest, 'state' | 'since' | 'page_size'>): string
  /** The query key of the number of issues on a page. */
  readonly sizeKey: string
  /** Turns an item of a page into one with the names that `readIssue` knows. */
  read(item: unknown): unknown
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

/** Returns the path of a repository's issues, as GitHub and Gitea have it. */
export function issuesPath({ owner, repo }: PageRequest['source']): string {
  return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/issues`
}
