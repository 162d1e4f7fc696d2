/** Where an issue lies, as its page's address says: the repository and its host; null for any other address. */
export function issuePlace(url: string): { readonly repository: string; readonly host: string } | null {
  const page = URL.parse(url)
  const [, repository] = /([^/]+\/[^/]+)\/issues\/\d+\/?$/.exec(page?.pathname ?? '') ?? []
  return page && repository !== undefined ? { repository, host: page.host } : null
}
