import { ForgeError, type ForgeBranch, type NewPull, type Pull, type PullChange } from '../../../ports/forges.ts'
import { unlessRefused } from '../unless-refused.ts'
import { shortenText, shortenTitle } from '../shorten.ts'
import { label } from './dialect.ts'
import { part, type Github } from './github.ts'
import { mutate } from './graphql.ts'
import { PullFields, toPull } from './pull-fields.ts'
import { isQueued } from './queue.ts'

const maxTitle = 256
export const maxText = 65_536

export const pullPath = (number: number) => `/pulls/${part(number)}`

export async function readFields(github: Github, number: number): Promise<PullFields> {
  return github.get(pullPath(number), PullFields)
}

export async function readPull(github: Github, number: number): Promise<Pull> {
  const fields = await readFields(github, number)
  return toPull(fields, await isQueued(github, fields))
}

export async function findPulls(github: Github, { repository, branch }: ForgeBranch): Promise<readonly Pull[]> {
  const query = {
    head: `${ownerOf(repository)}:${branch}`,
    state: 'all',
    sort: 'created',
    direction: 'desc',
    per_page: '30',
  }
  const found = await github.list('/pulls', PullFields, { query, pages: 1 })
  // A `head` that GitHub can't read is ignored, and everything answered.
  return found.filter(({ head }) => head.ref === branch).map((fields) => toPull(fields, false))
}

export async function openPullsOf(github: Github, { repository, branch }: ForgeBranch): Promise<readonly number[]> {
  const { owner, repo } = github.source
  const isHere = repository.toLowerCase() === `${owner}/${repo}`.toLowerCase()
  const heads = await github.list('/pulls', PullFields, {
    query: { state: 'open', head: `${ownerOf(repository)}:${branch}` },
  })
  const targets = isHere ? await github.list('/pulls', PullFields, { query: { state: 'open', base: branch } }) : []
  const found = [
    ...heads.filter(({ head }) => head.ref === branch),
    ...targets.filter(({ base }) => base.ref === branch),
  ]
  return [...new Set(found.map(({ number }) => number))]
}

const ownerOf = (repository: string) => repository.slice(0, repository.indexOf('/'))

export async function openPull(github: Github, pull: NewPull): Promise<Pull> {
  const { owner, repo } = github.source
  const { repository, branch } = pull.head
  const isFork = repository.toLowerCase() !== `${owner}/${repo}`.toLowerCase()
  const fields = await github.send(
    'POST',
    '/pulls',
    {
      title: shortenTitle(pull.title, maxTitle),
      body: shortenText(pull.body, maxText),
      head: isFork ? `${ownerOf(repository)}:${branch}` : branch,
      // Tells apart two forks of one owner.
      ...(isFork && { head_repo: repository.slice(repository.indexOf('/') + 1) }),
      base: pull.target,
      draft: pull.draft,
    },
    PullFields,
  )
  await addLabels(github, fields.number, pull.labels)
  await requestReviews(github, fields, pull.reviewers)
  return toPull(fields, false)
}

/** The pull request is there: a label or reviewer that is refused must not make it look as if it weren't. */
const mayFail = ['refused', 'forbidden', 'not_found'] as const

async function addLabels(github: Github, number: number, labels: readonly string[]): Promise<void> {
  if (labels.length === 0) return
  const url = github.url(`/issues/${part(number)}/labels`)
  await unlessRefused(mayFail, () => github.api.send({ method: 'POST', url, body: { labels } }))
}

async function requestReviews(github: Github, { number, user }: PullFields, logins: readonly string[]): Promise<void> {
  // Its author can't be asked, and one wrong login refuses all.
  const reviewers = logins.filter((login) => login.toLowerCase() !== user.toLowerCase())
  if (reviewers.length === 0) return
  const url = github.url(`${pullPath(number)}/requested_reviewers`)
  const ask = (some: readonly string[]) =>
    unlessRefused(mayFail, () => github.api.send({ method: 'POST', url, body: { reviewers: some } }))
  if ((await ask(reviewers)) !== null || reviewers.length === 1) return
  for (const reviewer of reviewers) await ask([reviewer])
}

export async function changePull(github: Github, number: number, change: PullChange): Promise<Pull> {
  const { title, body, target, state, draft } = change
  const patch = {
    ...(title !== undefined && { title: shortenTitle(title, maxTitle) }),
    ...(body !== undefined && { body: shortenText(body, maxText) }),
    ...(target !== undefined && { base: target }),
    ...(state !== undefined && { state }),
  }
  const fields =
    Object.keys(patch).length > 0
      ? await github.send('PATCH', pullPath(number), patch, PullFields)
      : await readFields(github, number)
  const queued = await isQueued(github, fields)
  if (draft === undefined || draft === (fields.draft === true)) return toPull(fields, queued)
  await setDraft(github, fields, draft)
  return toPull({ ...fields, draft }, queued)
}

async function setDraft(github: Github, { node_id }: PullFields, draft: boolean): Promise<void> {
  const name = draft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview'
  try {
    await mutate(
      github,
      [`mutation($id: ID!) { ${name}(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`],
      { id: node_id },
    )
  } catch (error) {
    if (draft && error instanceof ForgeError && error.code === 'refused' && /draft/i.test(error.message)) {
      throw new ForgeError('not_supported', `${label} has no drafts in this repository. It stays ready for review.`)
    }
    throw error
  }
}
