import { z } from 'zod'
import { ForgeError, type MergeMethod } from '../../../ports/forges.ts'
import type { ForgeAnswer } from '../forge-requests.ts'
import { parseAnswer } from '../parse-answer.ts'
import { label } from './dialect.ts'
import type { Github } from './github.ts'
import { mutate } from './graphql.ts'
import type { PullFields } from './pull-fields.ts'
import { pullPath, readFields } from './pulls.ts'
import { hasQueue, isQueued } from './queue.ts'

interface Merge {
  readonly method: MergeMethod
  /** The commit that was judged. */
  readonly head: string
}

const Merged = z.looseObject({ sha: z.string().nullish().catch(null) })
const Refusal = z.looseObject({ message: z.string().catch('') })

/** The title and text of the commit are GitHub's, as the repository has it set. */
export async function mergePull(github: Github, number: number, { method, head }: Merge): Promise<string | null> {
  const fields = await readFields(github, number)
  refuseStack(fields)
  refuseBlocked(fields)
  if ((await hasQueue(github, fields.base.ref)) === true) throw notMergeable(' Its target is merged through a queue.')
  const answer = await github.api.send({
    method: 'PUT',
    url: github.url(`${pullPath(number)}/merge`),
    body: { merge_method: method, sha: head },
    accept: [405, 409],
  })
  if (answer.status === 405 || answer.status === 409) throw notMerged(answer)
  return parseAnswer(Merged, answer.json, label).sha ?? null
}

/** Merging one of a stack of GitHub's own merges everything below it too. */
function refuseStack({ stack }: PullFields): void {
  if (stack == null) return
  throw new ForgeError(
    'not_supported',
    `This pull request is in a stack of ${label}, which would merge the ones below it too. Merge it at ${label}.`,
  )
}

const blocked: Readonly<Record<string, string>> = {
  blocked: 'Its checks or reviews are missing, or a rule of the target keeps it.',
  behind: 'The target wants its newest commits to be in the branch first.',
  dirty: 'It conflicts with the target.',
  draft: 'It is still a draft.',
}

/** The token of an administrator would merge past all of this. */
function refuseBlocked({ state, mergeable, mergeable_state }: PullFields): void {
  const reason = blocked[mergeable_state ?? '']
  if (reason !== undefined) throw notMergeable(` ${reason}`)
  if (state === 'open' && mergeable == null) throw notMergeable(' It still works out whether that can be done.')
}

function notMerged({ json }: ForgeAnswer): ForgeError {
  const { message } = Refusal.safeParse(json).data ?? { message: '' }
  const said = message === '' ? '' : ` It says: ${message.slice(0, 500)}`
  if (/(merges|merge commits) are not allowed/i.test(message)) {
    return new ForgeError('refused', `The repository doesn't allow this kind of merge. Choose another one.${said}`)
  }
  return notMergeable(said)
}

const notMergeable = (said: string) => new ForgeError('not_mergeable', `${label} doesn't merge it now.${said}`)

/** Puts it into the target's queue, or else has it merged once it may be. */
export async function mergeWhenReady(github: Github, number: number, merge: Merge): Promise<'queued' | 'auto_merge'> {
  const fields = await readFields(github, number)
  refuseStack(fields)
  if (fields.state !== 'open') throw notMergeable(' It is closed.')
  if (fields.head.sha !== merge.head) throw notMergeable(' Its branch has moved.')
  if ((await hasQueue(github, fields.base.ref)) === true) return enqueue(github, fields, merge)
  await enableAutoMerge(github, fields, merge)
  return 'auto_merge'
}

/** A pull request with auto-merge alone may never enter the queue; one that may not yet, enters it by that later. */
async function enqueue(github: Github, fields: PullFields, merge: Merge): Promise<'queued' | 'auto_merge'> {
  if (await isQueued(github, fields)) return 'queued'
  const text = `mutation($id: ID!, $head: GitObjectID) {
    enqueuePullRequest(input: { pullRequestId: $id, expectedHeadOid: $head }) { mergeQueueEntry { id } }
  }`
  try {
    await mutate(github, [text], { id: fields.node_id, head: merge.head })
    return 'queued'
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'refused') throw error
    await enableAutoMerge(github, fields, merge).catch((second: unknown) => {
      // Where only the queue merges, auto-merge is often off; then the queue's reason is the one to tell.
      throw second instanceof ForgeError && ['not_supported', 'not_mergeable'].includes(second.code)
        ? new ForgeError('not_mergeable', error.message)
        : second
    })
    return 'auto_merge'
  }
}

const enableWithHead = `mutation($id: ID!, $method: PullRequestMergeMethod, $head: GitObjectID) {
  enablePullRequestAutoMerge(input: { pullRequestId: $id, mergeMethod: $method, expectedHeadOid: $head }) {
    pullRequest { id }
  }
}`

const enableOnly = `mutation($id: ID!, $method: PullRequestMergeMethod) {
  enablePullRequestAutoMerge(input: { pullRequestId: $id, mergeMethod: $method }) { pullRequest { id } }
}`

async function enableAutoMerge(github: Github, fields: PullFields, { method, head }: Merge): Promise<void> {
  if (fields.auto_merge != null) return
  try {
    const variables = { id: fields.node_id, method: method.toUpperCase(), head }
    await mutate(github, [enableWithHead, enableOnly], variables)
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'refused') throw error
    throw cannotWait(error.message)
  }
}

/** Without a rule to wait for, GitHub has no auto-merge; a plain merge instead could come before its checks. */
function cannotWait(message: string): ForgeError {
  if (/(clean|unstable|has[ _]hooks) status/i.test(message)) {
    return new ForgeError('not_supported', `${label} has nothing to wait for: nothing keeps it from being merged now.`)
  }
  if (/not allowed for this repository|protected branch rules not configured/i.test(message)) {
    return new ForgeError('not_supported', `${label} has no auto-merge in this repository. Allow it in its settings.`)
  }
  return new ForgeError('not_mergeable', message)
}
