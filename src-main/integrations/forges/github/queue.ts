import { z } from 'zod'
import { ForgeError } from '../../../ports/forges.ts'
import { unlessRefused } from '../unless-refused.ts'
import type { Github } from './github.ts'
import { query } from './graphql.ts'
import type { PullFields } from './pull-fields.ts'
import { keptMs, readRules } from './rules.ts'

const Queue = z
  .looseObject({ repository: z.looseObject({ mergeQueue: z.looseObject({}).nullish() }).nullish() })
  .transform(({ repository }) => (repository ? { isThere: repository.mergeQueue != null } : null))

/** Answers whether merges into a branch go through a queue; null where the server or the token doesn't tell. */
export async function hasQueue(github: Github, branch: string): Promise<boolean | null> {
  // REST tells it of rulesets, GraphQL of the older kind of protection too.
  if ((await readRules(github, branch))?.queue === true) return true
  return github.recall(`queue ${branch}`, keptMs, async () => {
    try {
      const { owner, repo } = github.source
      const text = `query($owner: String!, $repo: String!, $branch: String!) {
        repository(owner: $owner, name: $repo) { mergeQueue(branch: $branch) { id } }
      }`
      return (await query(github, [text], { owner, repo, branch }, Queue)).isThere
    } catch (error) {
      if (error instanceof ForgeError && error.code === 'not_supported') return false
      if (error instanceof ForgeError && ['forbidden', 'refused'].includes(error.code)) return null
      throw error
    }
  })
}

const Queued = z
  .looseObject({
    repository: z
      .looseObject({ pullRequest: z.looseObject({ isInMergeQueue: z.boolean().nullish() }).nullish() })
      .nullish(),
  })
  .transform(({ repository }) => {
    const isInMergeQueue = repository?.pullRequest?.isInMergeQueue
    return isInMergeQueue == null ? null : { isInMergeQueue }
  })

/** Answers whether a pull request stands in its target's queue, which REST doesn't tell. */
export async function isQueued(github: Github, { number, state, draft, base }: PullFields): Promise<boolean> {
  if (state !== 'open' || draft === true || (await hasQueue(github, base.ref)) !== true) return false
  const { owner, repo } = github.source
  const text = `query($owner: String!, $repo: String!, $number: Int!) {
    repository(owner: $owner, name: $repo) { pullRequest(number: $number) { isInMergeQueue } }
  }`
  const found = await unlessRefused(['forbidden', 'refused', 'not_supported'], () =>
    query(github, [text], { owner, repo, number }, Queued),
  )
  return found?.isInMergeQueue ?? false
}
