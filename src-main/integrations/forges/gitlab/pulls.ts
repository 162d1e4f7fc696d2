import { ForgeError, type ForgeBranch, type NewPull, type Pull, type PullChange } from '../../../ports/forges.ts'
import { parseAnswer, parseItems } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import { escapeCommands } from './commands.ts'
import { isDraft, readTitle, writeTitle } from './drafts.ts'
import { label, listUrl, type GitlabProject } from './gitlab-api.ts'
import { idOf, readSettings, whileNotArchived, writeUrl } from './project.ts'
import { GitlabPull, GitlabUser } from './shapes.ts'
import { toPull } from './to-pull.ts'

export async function findPulls(project: GitlabProject, head: ForgeBranch): Promise<readonly Pull[]> {
  const id = await idOf(project, head.repository)
  if (id === null) return []
  const query = { source_branch: head.branch, state: 'all', order_by: 'created_at', sort: 'desc' }
  const items = await project.api.list(listUrl(`${project.url}/merge_requests`, query), { pages: 1 })
  const own = parseItems(GitlabPull, items).filter(({ source_project_id }) => source_project_id === id)
  const pulls: Pull[] = []
  for (const item of own) pulls.push(await toPull(project, item))
  return pulls.sort((a, b) => b.number - a.number)
}

export async function openPullsOf(project: GitlabProject, branch: ForgeBranch): Promise<readonly number[]> {
  const id = await idOf(project, branch.repository)
  if (id === null) return []
  const list = async (query: Readonly<Record<string, string>>) =>
    parseItems(
      GitlabPull,
      await project.api.list(listUrl(`${project.url}/merge_requests`, { ...query, state: 'opened' })),
    )
  const heads = await list({ source_branch: branch.branch })
  const targets = await list({ target_branch: branch.branch })
  const found = [
    ...heads.filter((pull) => pull.source_branch === branch.branch && pull.source_project_id === id),
    ...targets.filter((pull) => pull.target_branch === branch.branch && pull.target_project_id === id),
  ]
  return [...new Set(found.filter(({ state }) => state === 'opened').map(({ iid }) => iid))]
}

/** Opens it in the project of its branch, which may be a fork. */
export async function openPull(project: GitlabProject, pull: NewPull): Promise<Pull> {
  const target = await readSettings(project)
  const source = await idOf(project, pull.head.repository)
  if (source === null) {
    throw new ForgeError('not_found', `GitLab has no project ${pull.head.repository}, or the token can't see it.`)
  }
  const reviewer_ids = await userIds(project, pull.reviewers)
  const { json } = await whileNotArchived(project, () =>
    project.api.send({
      method: 'POST',
      url: `${project.root}/projects/${source}/merge_requests`,
      body: {
        source_branch: pull.head.branch,
        target_branch: pull.target,
        target_project_id: target.id,
        title: writeTitle(pull.title, pull.draft),
        description: escapeCommands(pull.body),
        ...(pull.labels.length > 0 && { labels: pull.labels.join(',') }),
        ...(reviewer_ids.length > 0 && { reviewer_ids }),
      },
    }),
  )
  return toPull(project, json)
}

/** Returns the IDs of accounts; unknown ones are left out: they must not lose the pull request. */
async function userIds({ api, root }: GitlabProject, logins: readonly string[]): Promise<readonly number[]> {
  const ids: number[] = []
  for (const username of logins) {
    const url = `${root}/users?${new URLSearchParams({ username }).toString()}`
    const items = await unlessRefused(['not_found', 'forbidden', 'refused'], () => api.list(url, { pages: 1 }))
    const found = parseItems(GitlabUser, items ?? []).find(
      (user) => user.username.toLowerCase() === username.toLowerCase(),
    )
    if (found) ids.push(found.id)
  }
  return ids
}

export async function readPull(project: GitlabProject, number: number): Promise<Pull> {
  return toPull(project, await recallPull(project, number, true))
}

export async function fetchPull({ api, url }: GitlabProject, number: number): Promise<GitlabPull> {
  return parseAnswer(GitlabPull, (await api.send({ url: `${url}/merge_requests/${number}` })).json, label)
}

const sharedMs = 5_000

/**
 * Returns a pull request for its head and pipeline, which its parts need that are asked for together; `isFresh` asks in
 * any case.
 */
export async function recallPull(project: GitlabProject, number: number, isFresh = false): Promise<GitlabPull> {
  return project.recall(
    `${project.key} pull ${number}`,
    () => sharedMs,
    () => fetchPull(project, number),
    isFresh,
  )
}

export async function changePull(project: GitlabProject, number: number, change: PullChange): Promise<Pull> {
  const title = await changedTitle(project, number, change)
  const body = {
    ...(title !== null && { title }),
    ...(change.body !== undefined && { description: escapeCommands(change.body) }),
    ...(change.target !== undefined && { target_branch: change.target }),
    ...(await stateChange(project, number, change)),
  }
  if (Object.keys(body).length === 0) return readPull(project, number)
  const { json } = await sendChange(project, number, body)
  return toPull(project, json)
}

export async function sendChange(project: GitlabProject, number: number, body: object) {
  const url = `${await writeUrl(project)}/merge_requests/${number}`
  return whileNotArchived(project, () => project.api.send({ method: 'PUT', url, body }))
}

/** Returns the title with its prefix; null if it stays. */
async function changedTitle(project: GitlabProject, number: number, change: PullChange): Promise<string | null> {
  if (change.title === undefined && change.draft === undefined) return null
  const now = await fetchPull(project, number)
  const asDraft = isDraft(now)
  const wanted = change.title ?? readTitle(now.title, asDraft)
  const written = writeTitle(wanted, change.draft ?? asDraft)
  return written === now.title ? null : written
}

/** Closing what is closed is refused. */
async function stateChange(project: GitlabProject, number: number, { state }: PullChange) {
  if (state === undefined) return {}
  const { state: now } = await fetchPull(project, number)
  if ((now === 'closed') === (state === 'closed') && now !== 'merged') return {}
  return { state_event: state === 'closed' ? 'close' : 'reopen' }
}
