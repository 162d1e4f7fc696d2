import { z } from 'zod'
import type { Pull } from '../../../ports/forges.ts'

/** Whoever deleted their account is shown under this name. */
const ghost = 'ghost'

export const User = z
  .looseObject({ login: z.string() })
  .nullish()
  .catch(null)
  .transform((user) => user?.login ?? ghost)

export const Text = z
  .string()
  .nullish()
  .catch(null)
  .transform((text) => text ?? '')

const Repository = z.looseObject({ full_name: z.string() }).nullish().catch(null)

export const PullFields = z.looseObject({
  number: z.int(),
  node_id: z.string().catch(''),
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  draft: z.boolean().nullish().catch(false),
  /** Not in lists, where `merged_at` is. */
  merged: z.boolean().nullish().catch(null),
  merged_at: z.string().nullish().catch(null),
  title: z.string(),
  body: Text,
  user: User,
  head: z.looseObject({
    ref: z.string(),
    sha: z.string(),
    /** null once a fork is deleted. */
    repo: Repository,
    user: z.looseObject({ login: z.string() }).nullish().catch(null),
  }),
  base: z.looseObject({ ref: z.string() }),
  mergeable: z.boolean().nullish().catch(null),
  mergeable_state: z.string().nullish().catch(null),
  merge_commit_sha: z.string().nullish().catch(null),
  auto_merge: z.looseObject({}).nullish().catch(null),
  updated_at: z.string(),
  requested_reviewers: z.array(z.looseObject({ login: z.string() })).catch([]),
  requested_teams: z.array(z.looseObject({ slug: z.string() })).catch([]),
  /** Of GitHub's own stacks: https://github.github.com/gh-stack/reference/rest-api/ */
  stack: z.looseObject({}).nullish().catch(null),
})
export type PullFields = z.infer<typeof PullFields>

const isMerged = ({ merged, merged_at }: PullFields) => merged ?? (merged_at !== null && merged_at !== undefined)

export function toPull(fields: PullFields, queued: boolean): Pull {
  const { number, html_url, title, body, user, head, base, mergeable, merge_commit_sha, auto_merge } = fields
  const merged = isMerged(fields)
  const open = fields.draft === true ? 'draft' : 'open'
  return {
    number,
    url: html_url,
    state: merged ? 'merged' : fields.state === 'open' ? open : 'closed',
    title,
    body,
    author: user,
    head: { commit: head.sha, repository: head.repo?.full_name ?? null, branch: head.ref },
    target: base.ref,
    mergeable: mergeable ?? null,
    // While it is open, this is a merge on trial that stands on no branch.
    merge_commit: merged ? (merge_commit_sha ?? null) : null,
    queued: queued && fields.state === 'open',
    auto_merge: auto_merge !== null && auto_merge !== undefined && fields.state === 'open',
    updated_at: fields.updated_at,
  }
}
