import { lastPage, type Forge } from '../forge.ts'

/** GitLab: https://docs.gitlab.com/api/issues/#list-project-issues */
export const gitlab: Forge = {
  issues: {
    firstPage: ({ base_url, owner, repo }, { state: wanted, since, page_size }) => {
      const base = base_url.replace(/\/+$/, '')
      const api = base.endsWith('/api/v4') ? base : `${base}/api/v4`
      const url = new URL(`${api}/projects/${encodeURIComponent(`${owner}/${repo}`)}/issues`)
      // Oldest first: issues opened during the sync come at the end and shift no page.
      const state = wanted === 'open' ? 'opened' : 'all'
      const query = { state, order_by: 'created_at', sort: 'asc', per_page: String(Math.min(page_size, 100)) }
      url.search = new URLSearchParams({ ...query, ...(since !== null && { updated_after: since }) }).toString()
      return url.href
    },
    sizeKey: 'per_page',
    read: (item) => {
      if (typeof item !== 'object' || item === null) return item
      const { iid, description, web_url, state, ...rest } = item as Readonly<Record<string, unknown>>
      return { ...rest, number: iid, body: description, html_url: web_url, state: state === 'opened' ? 'open' : state }
    },
    // Above 10,000 issues it tells no number of pages.
    pagesTotal: ({ links, header }) => {
      const told = Number(header('x-total-pages') || NaN)
      return lastPage(links) ?? (Number.isSafeInteger(told) ? Math.max(1, told) : null)
    },
  },
  headers: (token) => ({ accept: 'application/json', authorization: `Bearer ${token}` }),
}
