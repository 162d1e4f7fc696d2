import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Platform } from '../../src-shared/contract/trackers.ts'
import { usualPlatform } from '../../src-shared/contract/trackers.ts'
import { invalidInput, notFound } from '../domain/refusal.ts'
import { issueAddress, knownIds, type Base, type IssueAddress } from './rules/issue-address.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { readBaseUrl, readIssueUrl, type IssuePage } from './tracker-urls.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/** Links a task to the issue at `url`, permanently. Idempotent. */
export function linkTask(context: Pick<Ground, 'feed'>, task_id: TaskId, url: string): TaskRecord | Refusal {
  const page = readIssueUrl(url)
  if (!page) {
    const message = "Use the address of an issue's page, such as https://github.com/owner/repo/issues/12."
    return invalidInput('url', message)
  }
  return context.feed.commit((tx) => {
    const task = tx.tasks.get(task_id)
    if (!task) return notFound('task')
    const address = addressOf(tx, page)
    const ids = knownIds(page.base, [page.repository], page.number)
    const links = ids.flatMap((id) => tx.external_links.get(id) ?? [])
    const own = tx.external_links.ofTask(task_id)
    if (own !== null) return links.some((link) => link.task_id === task_id) ? task : taken(own)
    const other = links.find((link) => link.task_id !== null)
    if (other) return taken(other, other.project_id === task.project_id ? other.task_id : null)
    // The remaining links belong to deleted tasks.
    for (const link of links) tx.external_links.remove(link.global_id)
    return write(tx, task, address)
  })
}

function write(tx: Tx, task: TaskRecord, address: IssueAddress): TaskRecord {
  tx.external_links.add({ ...address, project_id: task.project_id, task_id: task.id, created_at: tx.now() })
  return tx.saveTask({ ...task, version: task.version + 1 })
}

/** Finds a host's platform by the integration that reads from it; its pages may be below a path. */
function addressOf(q: Queries, { platform, base, repository, number }: IssuePage): IssueAddress {
  if (base.publicPlatform !== null) return issueAddress(base.publicPlatform, base, repository, number)
  const known = q.integrations.list().flatMap(({ platform, base_url }): { platform: Platform; base: Base }[] => {
    const read = readBaseUrl(platform, base_url)
    return typeof read !== 'string' && read.host === base.host ? [{ platform, base: read }] : []
  })
  const found = known.find((one) => one.base.web === base.web) ?? known[0]
  if (platform === null) return issueAddress(found?.platform ?? usualPlatform, base, repository, number)
  // What looks like the first group may be the path below which the tracker runs.
  const below = found?.platform === platform ? `${found.base.web.slice(base.web.length + 1)}/` : '/'
  const isBelow = below !== '/' && `${repository.owner}/`.startsWith(below)
  const owner = isBelow ? repository.owner.slice(below.length) : repository.owner
  return issueAddress(platform, isBelow && found ? found.base : base, { ...repository, owner }, number)
}

function taken(link: { readonly url: string }, task_id: TaskId | null = null): Refusal {
  return {
    code: 'already_linked',
    message:
      task_id === null
        ? `${link.url} is already linked to a task, and links can't be removed. Choose another issue.`
        : `${link.url} is already linked to another task. Work on that one.`,
    details: { url: link.url, ...(task_id !== null && { task_id }) },
  }
}
