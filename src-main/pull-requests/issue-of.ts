import { knownIds } from '../integrations/rules/issue-address.ts'
import { readBaseUrl } from '../integrations/tracker-urls.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { ExternalLinkQueries, TaskRecord } from '../ports/task-queries.ts'

/** Returns the number of a task's issue if it lies in the integration's own repository; null for any other issue. */
export function issueOf(
  q: { readonly external_links: ExternalLinkQueries },
  { platform, base_url, owner, repo, former_names }: IntegrationRecord,
  { id }: Pick<TaskRecord, 'id'>,
): number | null {
  const link = q.external_links.ofTask(id)
  const base = readBaseUrl(platform, base_url)
  if (!link || typeof base === 'string') return null
  const ids = knownIds(base, [{ owner, repo }, ...former_names], link.number).map((one) => one.toLowerCase())
  return ids.includes(link.global_id.toLowerCase()) ? link.number : null
}
