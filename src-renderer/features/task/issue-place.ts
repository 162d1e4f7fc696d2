/** Returns repository and host of an issue from its URL; null for any other URL. */
export function issuePlace(url: string): { readonly repository: string; readonly host: string } | null {
  const page = URL.parse(url)
  const [, repository] = /([^/]+\/[^/]+)\/issues\/\d+\/?$/.exec(page?.pathname ?? '') ?? []
  return page && repository !== undefined ? { repository, host: page.host } : null
}
