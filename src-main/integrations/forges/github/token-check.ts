import type { PullRequestCan, TokenRight } from '../../../../src-shared/contract/pull-requests.ts'
import type { TokenCheck } from '../../../ports/forges.ts'
import type { ForgeAnswer } from '../forge-requests.ts'
import { parseAnswer } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import { label } from './dialect.ts'
import { part, type Github } from './github.ts'
import { hasQueue } from './queue.ts'
import { RepositoryFields } from './repository.ts'
import { rights, type Area } from './rights.ts'

type State = TokenRight['state']

/** Finds out what a token may, by reads alone. What only a write would tell is `unknown`. */
export async function checkToken(github: Github): Promise<TokenCheck> {
  const answer = await github.api.send({ url: github.url('') })
  const fields = parseAnswer(RepositoryFields, answer.json, label)
  const scopes = scopesOf(answer.header('x-oauth-scopes'))
  const states = scopes === null ? await probe(github, fields) : await granted(github, fields, scopes)
  const queue = await hasQueue(github, fields.default_branch)
  const isWritten = (area: Area) => states[area] === 'ok' && fields.permissions?.push !== false
  const known = (area: Area) => (states[area] === 'missing' ? false : isWritten(area) ? true : null)
  const can: PullRequestCan = {
    checks: checksSeen(states),
    // Reading suffices; a fine-grained token's `unknown` is about running jobs again.
    logs: states.actions !== 'missing',
    rerun: known('actions'),
    reply: known('pulls'),
    // Although no file changes, resolving needs the right to write them.
    resolve: scopes === null && states.contents === 'missing' ? false : known('pulls'),
    draft: fields.private ? null : known('pulls'),
    auto_merge: fields.allow_auto_merge ?? null,
    queue,
  }
  return {
    can,
    rights: rights.map(({ area, right, needed_for }) => ({ right, needed_for, state: states[area] })),
    token_expires_at: expiryOf(answer),
  }
}

type States = Readonly<Record<Area, State>>

function checksSeen({ checks, statuses, actions }: States): PullRequestCan['checks'] {
  if (checks === 'ok' && statuses === 'ok') return 'all'
  return [checks, statuses, actions].every((state) => state === 'missing') ? 'none' : 'some'
}

/** null: a token without scopes, that is a fine-grained one or an app's. */
function scopesOf(header: string | null): readonly string[] | null {
  return header === null ? null : header.split(',').map((scope) => scope.trim())
}

/** Of a classic token, the scopes tell it all; what the account itself may not do, the token may not either. */
async function granted(github: Github, fields: RepositoryFields, scopes: readonly string[]): Promise<States> {
  const whole = scopes.includes('repo') || (!fields.private && scopes.includes('public_repo'))
  const state: State = whole ? 'ok' : 'missing'
  const pushes: State = whole && fields.permissions?.push !== false ? 'ok' : 'missing'
  const seen = await probeChecks(github, fields)
  return {
    metadata: 'ok',
    pulls: state,
    contents: pushes,
    issues: state,
    ...seen,
    actions: seen.actions === 'missing' ? 'missing' : pushes,
    workflows: scopes.includes('workflow') ? pushes : 'missing',
  }
}

/** Of any other token, reads tell what is missing; a public repository is read without any right. */
async function probe(github: Github, fields: RepositoryFields): Promise<States> {
  const written = async (path: string) => afterRead(await reads(github, path), 'unknown')
  const seen = await probeChecks(github, fields)
  return {
    metadata: 'ok',
    pulls: await written('/pulls?per_page=1'),
    contents: await written(`/git/ref/heads/${branchPath(fields.default_branch)}`),
    issues: await written('/issues?per_page=1'),
    ...seen,
    actions: seen.actions === 'missing' ? 'missing' : 'unknown',
    workflows: 'unknown',
  }
}

async function probeChecks(github: Github, { default_branch }: RepositoryFields) {
  const commit = `/commits/${part(default_branch)}`
  return {
    checks: afterRead(await reads(github, `${commit}/check-runs?per_page=1`), 'ok'),
    statuses: afterRead(await reads(github, `${commit}/status?per_page=1`), 'ok'),
    actions: afterRead(await reads(github, '/actions/runs?per_page=1'), 'ok'),
  }
}

const branchPath = (branch: string) => branch.split('/').map(part).join('/')

const afterRead = (isRead: boolean, state: State): State => (isRead ? state : 'missing')

/** An empty repository, or one without issues or Actions, is no missing right. */
async function reads(github: Github, path: string): Promise<boolean> {
  const answer = await unlessRefused(['forbidden'], () =>
    github.api.send({ url: `${github.url('')}${path}`, accept: [404, 409, 410, 422] }),
  )
  return answer !== null
}

/** Returns what the header says, as `2026-12-01 10:00:00 UTC` or with `+0200`. */
function expiryOf({ header }: ForgeAnswer): string | null {
  const told = header('github-authentication-token-expiration')
  const [, day, time, zone] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (UTC|[+-]\d{4})$/.exec(told?.trim() ?? '') ?? []
  if (day === undefined || time === undefined || zone === undefined) return null
  const offset = zone === 'UTC' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3)}`
  const moment = Date.parse(`${day}T${time}${offset}`)
  return Number.isNaN(moment) ? null : new Date(moment).toISOString()
}
