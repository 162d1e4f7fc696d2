import type { ForgeCheck, ForgeChecks, Pull } from '../../../ports/forges.ts'
import { parseAnswer, parseItems } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import { label, type GiteaRepository } from './gitea-api.ts'
import { matchesGlob } from './glob.ts'
import { GiteaBranch, GiteaCombinedStatus, GiteaStatus, GiteaTip } from './shapes.ts'
import { readFeatures } from './version.ts'

/** Returns the checks of a pull request; Actions report theirs as statuses of the commit too. */
export async function readChecks(
  repository: GiteaRepository,
  { head, target }: Pick<Pull, 'head' | 'target'>,
): Promise<ForgeChecks> {
  const checks = await readChecksOf(repository, head.commit)
  const required = await readRequired(repository, target)
  if (required === null) return { seen: 'all', checks }
  const marked = checks.map((check) => ({
    ...check,
    // Without patterns every status has to succeed.
    required: required.length === 0 || required.some((pattern) => matchesGlob(pattern, check.name)),
  }))
  const missing = required.filter((pattern) => !checks.some(({ name }) => matchesGlob(pattern, name)))
  return { seen: 'all', checks: [...marked, ...missing.map(expected)] }
}

/** A required check that nobody reported: the forge waits for it. */
const expected = (name: string): ForgeCheck => ({ name, state: 'queued', required: true, url: null, job: null })

/**
 * Returns the checks of a commit or of a branch. Actions name theirs by the event too: those of a push stand for those
 * of a pull request as well, so that both can be compared.
 */
export async function readChecksOfRef(repository: GiteaRepository, ref: string): Promise<readonly ForgeCheck[]> {
  const commit = isCommit(ref) ? ref : await commitOf(repository, ref)
  const checks = await readChecksOf(repository, commit)
  const ofPushes = checks.filter(({ name }) => name.endsWith(' (push)'))
  return [
    ...checks,
    ...ofPushes.map((check) => ({ ...check, name: check.name.replace(/ \(push\)$/, ' (pull_request)') })),
  ]
}

const isCommit = (ref: string) => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(ref)

async function commitOf(repository: GiteaRepository, branch: string): Promise<string> {
  const { json } = await repository.api.send({ url: branchUrl(repository, branch) })
  return parseAnswer(GiteaTip, json, label).commit.id
}

const branchUrl = ({ url }: GiteaRepository, branch: string) =>
  `${url}/branches/${branch.split('/').map(encodeURIComponent).join('/')}`

async function readChecksOf(repository: GiteaRepository, commit: string): Promise<readonly ForgeCheck[]> {
  const statuses = await readStatuses(repository, commit)
  const { jobs } = statuses.some(isOfActions) ? await readFeatures(repository) : { jobs: false }
  return statuses.map((status) => ({
    name: status.context,
    state: stateOf(status),
    required: null,
    url: pageOf(repository, status),
    job: jobs && isOfActions(status) ? `${commit} ${status.target_url ?? ''}` : null,
  }))
}

const pageSize = 50
const maxPages = 10

/** Returns the newest status of each context. */
async function readStatuses({ api, url }: GiteaRepository, commit: string): Promise<readonly GiteaStatus[]> {
  const newest = new Map<string, GiteaStatus>()
  for (let page = 1; page <= maxPages; page++) {
    const query = `limit=${pageSize}&page=${page}`
    const { json, header } = await api.send({ url: `${url}/commits/${commit}/status?${query}` })
    const items = parseItems(GiteaStatus, parseAnswer(GiteaCombinedStatus, json, label).statuses ?? [])
    for (const status of items) {
      if ((newest.get(status.context)?.id ?? -1) < status.id) newest.set(status.context, status)
    }
    const total = Number(header('x-total-count') ?? NaN)
    if (items.length === 0 || !(page * pageSize < total)) break
  }
  return [...newest.values()].sort((a, b) => a.id - b.id)
}

const isOfActions = ({ target_url }: GiteaStatus) => /\/actions\/runs\/\d+\/jobs\/\d+/.test(target_url ?? '')

function pageOf({ root }: GiteaRepository, { target_url }: GiteaStatus): string | null {
  // Actions give the path alone.
  const page = target_url === null || target_url === undefined || target_url === '' ? null : URL.parse(target_url, root)
  return page !== null && /^https?:$/.test(page.protocol) ? page.href : null
}

/** Actions report cancelled and skipped jobs by their description: the states have no such words in most versions. */
function stateOf(status: GiteaStatus): ForgeCheck['state'] {
  const told = isOfActions(status) ? (status.description ?? '') : ''
  switch (status.status) {
    case 'success':
    case 'warning':
      return told === 'Has been skipped' ? 'skipped' : 'passed'
    case 'skipped':
      return 'skipped'
    case 'pending':
      return /^(waiting|blocked)/i.test(told) ? 'queued' : 'running'
    default:
      return told === 'Has been cancelled' ? 'cancelled' : 'failed'
  }
}

/** Returns the patterns of the contexts that the target requires; null: it requires none, or it isn't told. */
async function readRequired(repository: GiteaRepository, target: string): Promise<readonly string[] | null> {
  const request = { url: branchUrl(repository, target) }
  const answer = await unlessRefused(['not_found', 'forbidden'], () => repository.api.send(request))
  if (answer === null) return null
  const branch = parseAnswer(GiteaBranch, answer.json, label)
  return branch.enable_status_check ? (branch.status_check_contexts ?? []) : null
}
