import type { ForgeBranch, ForgeRepository, MergeMethod, NewPull, Pull, PullChange } from '../../../ports/forges.ts'
import { parseAnswer, parseItems } from '../parse-answer.ts'
import { readTitle, writeTitle } from './drafts.ts'
import { unlessRefused } from '../unless-refused.ts'
import { label, listUrl, type GiteaRepository } from './gitea-api.ts'
import { labelIds } from './issue-labels.ts'
import { checkScheduled } from './scheduled-merge.ts'
import { GiteaPull, GiteaRepositoryRecord } from './shapes.ts'
import { toPull } from './to-pull.ts'

export async function readRepository({ api, url }: GiteaRepository): Promise<ForgeRepository> {
  const { json } = await api.send({ url })
  const record = parseAnswer(GiteaRepositoryRecord, json, label)
  return {
    full_name: record.full_name,
    clone_url: record.clone_url,
    ssh_url: record.ssh_url === '' ? null : (record.ssh_url ?? null),
    default_branch: record.default_branch,
    archived: record.archived,
    may_push: record.permissions?.push ?? null,
    methods: allowedMethods(record),
  }
}

const allMethods = ['merge', 'squash', 'rebase'] as const

function allowedMethods(record: GiteaRepositoryRecord): readonly MergeMethod[] {
  const allowed = {
    merge: record.allow_merge_commits,
    squash: record.allow_squash_merge,
    rebase: record.allow_rebase || record.allow_rebase_explicit || record.allow_fast_forward_only_merge,
  }
  const style = record.default_merge_style
  const preferred = style === 'merge' || style === 'squash' ? style : style === '' ? 'merge' : 'rebase'
  const methods = allMethods.filter((method) => allowed[method])
  const sorted = [...methods].sort((a, b) => Number(b === preferred) - Number(a === preferred))
  return sorted.length > 0 ? sorted : allMethods
}

/** Most servers can't list the pull requests of a branch: the newest 200 are looked through. */
const pagesToSearch = 4

export async function findPulls(repository: GiteaRepository, head: ForgeBranch): Promise<readonly Pull[]> {
  const items = await repository.api.list(listUrl(repository, '/pulls', { state: 'all' }), { pages: pagesToSearch })
  const pulls = await Promise.all(parseItems(GiteaPull, items).map((pull) => toPull(repository, pull)))
  const wanted = head.repository.toLowerCase()
  return pulls
    .filter((pull) => pull.head.branch === head.branch && pull.head.repository?.toLowerCase() === wanted)
    .sort((a, b) => b.number - a.number)
}

/** All open ones are looked through: few servers can list those of a branch. */
export async function openPullsOf(
  repository: GiteaRepository,
  { repository: name, branch }: ForgeBranch,
): Promise<readonly number[]> {
  const items = await repository.api.list(listUrl(repository, '/pulls', { state: 'open' }), { pages: 40 })
  const isIt = ({ repo, label: told, ref }: GiteaPull['head']) =>
    repo?.full_name.toLowerCase() === name.toLowerCase() && [told, ref].includes(branch)
  return parseItems(GiteaPull, items)
    .filter(({ state, head, base }) => state === 'open' && (isIt(head) || isIt(base)))
    .map(({ number }) => number)
}

export async function openPull(repository: GiteaRepository, pull: NewPull): Promise<Pull> {
  const { api, url, source } = repository
  const owner = pull.head.repository.split('/')[0] ?? ''
  const isForeign = owner.toLowerCase() !== source.owner.toLowerCase()
  const labels = pull.labels.length > 0 ? await labelIds(repository, pull.labels) : []
  const { json } = await api.send({
    method: 'POST',
    url: `${url}/pulls`,
    body: {
      title: writeTitle(pull.title, pull.draft),
      body: pull.body,
      head: isForeign ? `${owner}:${pull.head.branch}` : pull.head.branch,
      base: pull.target,
      labels,
    },
  })
  const opened = await toPull(repository, parseAnswer(GiteaPull, json, label))
  await requestReviewers(repository, opened, pull.reviewers)
  return opened
}

/** Asks for reviews. The pull request is open by now: a reviewer whom the forge doesn't accept must not lose it. */
async function requestReviewers({ api, url }: GiteaRepository, opened: Pull, wanted: readonly string[]) {
  // Nobody reviews their own.
  const reviewers = wanted.filter((login) => login.toLowerCase() !== opened.author.toLowerCase())
  for (const reviewer of reviewers) {
    const request = {
      method: 'POST',
      url: `${url}/pulls/${opened.number}/requested_reviewers`,
      body: { reviewers: [reviewer] },
    } as const
    await unlessRefused(['not_found', 'forbidden', 'refused'], () => api.send(request))
  }
}

export async function readPull(repository: GiteaRepository, number: number): Promise<Pull> {
  const pull = await fetchPull(repository, number)
  await checkScheduled(repository, pull)
  return toPull(repository, pull)
}

export async function fetchPull({ api, url }: GiteaRepository, number: number): Promise<GiteaPull> {
  const { json } = await api.send({ url: `${url}/pulls/${number}` })
  return parseAnswer(GiteaPull, json, label)
}

export async function changePull(repository: GiteaRepository, number: number, change: PullChange): Promise<Pull> {
  const { api, url } = repository
  const title = await changedTitle(repository, number, change)
  const body = {
    ...(title !== null && { title }),
    ...(change.body !== undefined && { body: change.body }),
    ...(change.state !== undefined && { state: change.state }),
    ...(change.target !== undefined && { base: change.target }),
  }
  if (Object.keys(body).length === 0) return readPull(repository, number)
  const { json } = await api.send({ method: 'PATCH', url: `${url}/pulls/${number}`, body })
  return toPull(repository, parseAnswer(GiteaPull, json, label))
}

/** Returns the title with its prefix; null if it stays. */
async function changedTitle(repository: GiteaRepository, number: number, change: PullChange): Promise<string | null> {
  if (change.title === undefined && change.draft === undefined) return null
  const now = await fetchPull(repository, number)
  const { isDraft, prefix, title } = readTitle(now)
  const wanted = change.title ?? title
  const isWanted = change.draft ?? isDraft
  const written = writeTitle(wanted, isWanted, prefix === '' ? undefined : prefix)
  return written === now.title ? null : written
}
