import { issuesPath, lastPage, type Forge } from '../forge.ts'

/** Gitea and Forgejo: https://docs.gitea.com/api/#tag/issue/operation/issueListIssues */
export const gitea: Forge = {
  issues: {
    firstPage: (source, { state, since, page_size }) => {
      const base = source.base_url.replace(/\/+$/, '')
      const url = new URL(`${base.endsWith('/api/v1') ? base : `${base}/api/v1`}${issuesPath(source)}`)
      // 50 is a server's maximum unless it is configured higher.
      const query = { type: 'issues', state, limit: String(Math.min(page_size, 50)) }
      url.search = new URLSearchParams({ ...query, ...(since !== null && { since }) }).toString()
      return url.href
    },
    sizeKey: 'limit',
    read: (item) => item,
    pagesTotal: ({ links, header, page_size }) => {
      const total = Number(header('x-total-count') ?? NaN)
      return (
        lastPage(links) ??
        (Number.isSafeInteger(total) ? Math.max(1, Math.ceil(total / Math.min(page_size, 50))) : null)
      )
    },
  },
  headers: (token) => ({ accept: 'application/json', authorization: `token ${token}` }),
}
