import { issuesPath, lastPage, type Forge } from '../forge.ts'
import { authenticated } from './dialect.ts'

/** GitHub and GitHub Enterprise: https://docs.github.com/en/rest/issues/issues#list-repository-issues */
export const github: Forge = {
  issues: {
    firstPage: (source, { state, since, page_size }) => {
      const url = new URL(`${source.base_url.replace(/\/+$/, '')}${issuesPath(source)}`)
      // Oldest first: issues opened during the sync come at the end and shift no page.
      const query = { state, sort: 'created', direction: 'asc', per_page: String(Math.min(page_size, 100)) }
      url.search = new URLSearchParams({ ...query, ...(since !== null && { since }) }).toString()
      return url.href
    },
    sizeKey: 'per_page',
    read: (item) => item,
    pagesTotal: ({ links }) => (links.has('next') ? lastPage(links) : null),
  },
  headers: authenticated,
}
