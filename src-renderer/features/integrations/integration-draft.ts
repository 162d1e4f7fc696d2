import type { Integration } from '../../../src-shared/contract/integrations.ts'
import { platforms, type Platform } from '../../../src-shared/contract/trackers.ts'
import { platformOfHost, publicApiOf, publicPlatform, trackerInfos } from '../../../src-shared/contract/trackers.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'

/** The form data of an integration. */
export interface IntegrationDraft {
  platform: Platform
  baseUrl: string
  /** `owner/name`, or the URL of the repository's page. */
  repository: string
  tokenName: string
  /** Separated by commas. */
  labels: string
  /** Empty for the workflow's first state. */
  state: string
  /** `agent:<id>`, `user:<id>`, or empty for no assignee. */
  assignee: string
  minutes: number
}

/** Returns the initial form data. */
export function integrationDraft(known: Integration | null): IntegrationDraft {
  if (!known) {
    const empty = { repository: '', tokenName: '', labels: '', state: '', assignee: '', minutes: 5 }
    return { platform: platforms[0], baseUrl: publicApiOf(platforms[0]), ...empty }
  }
  const { default_assignee_type: type, default_assignee_id: id } = known
  return {
    platform: known.platform,
    baseUrl: known.base_url,
    repository: `${known.owner}/${known.repo}`,
    tokenName: known.token_secret_ref,
    labels: (known.sync_filter.labels ?? []).join(', '),
    state: known.default_task_state ?? '',
    assignee: type && id ? `${type}:${id}` : '',
    minutes: Math.max(1, Math.round(known.poll_interval_secs / 60)),
  }
}

/** Returns the fields that a repository URL implies; null for anything else, including `owner/name`. */
export function readRepositoryAddress(
  text: string,
): Pick<IntegrationDraft, 'platform' | 'baseUrl' | 'repository'> | null {
  const url = URL.parse(text.trim().replace(/^git@([^:/]+):/, 'https://$1/'))
  if (!url || !/^https?:$/.test(url.protocol)) return null
  const platform = platformOfHost(url.hostname)
  const { nestsOwners } = trackerInfos[platform]
  const parts = (url.pathname.split('/-/')[0] ?? '').split('/').filter((part) => part !== '')
  const names = nestsOwners ? parts : parts.slice(0, 2)
  if (names.length < 2) return null
  const repository = names.join('/').replace(/\.git$/, '')
  return { platform, baseUrl: publicPlatform(url.hostname) === null ? url.origin : publicApiOf(platform), repository }
}

/** Returns the reason why the form can't be saved in a few words, or null. */
export function draftProblem(draft: IntegrationDraft): string | null {
  const { nestsOwners } = trackerInfos[draft.platform]
  const [owner, name] = namesOf(draft)
  if (!/^[^\s/]+$/.test(name) || !(nestsOwners ? /^[^\s/]+(\/[^\s/]+)*$/ : /^[^\s/]+$/).test(owner)) {
    return nestsOwners ? 'Say which repository, as group/name' : 'Say which repository, as owner/name'
  }
  if (draft.baseUrl.trim() === '') return 'Say where its API is'
  const unnamed = variableProblem(draft.tokenName.trim(), 'Name the variable that holds the token')
  if (unnamed !== null) return unnamed
  if (!Number.isFinite(draft.minutes) || draft.minutes < 1 || draft.minutes > 1_440) return 'Say how often it is read'
  return null
}

/** Returns `problem` unless this can be the name of an environment variable. */
export function variableProblem(name: string, problem: string): string | null {
  return /^[A-Z][A-Z0-9_]{0,127}$/.test(name) ? null : problem
}

/** Returns owner and name of the repository; the owner may be a group in a group. */
function namesOf({ repository }: IntegrationDraft): readonly [owner: string, name: string] {
  const text = repository.trim()
  const at = text.lastIndexOf('/')
  return [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
}

/** Returns the request that creates an integration. */
export function integrationInput(projectId: string, draft: IntegrationDraft): OperationInput<'integrations.create'> {
  const [owner, repo] = namesOf(draft)
  const labels = draft.labels
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '')
  const [type, id] = draft.assignee.split(':')
  const isKnown = (type === 'agent' || type === 'user') && id !== undefined
  return {
    project_id: projectId,
    platform: draft.platform,
    base_url: draft.baseUrl.trim(),
    owner,
    repo,
    token_secret_ref: draft.tokenName.trim(),
    poll_interval_secs: Math.round(draft.minutes * 60),
    sync_filter: labels.length > 0 ? { labels } : {},
    default_task_state: draft.state === '' ? null : draft.state,
    default_assignee_type: isKnown ? type : null,
    default_assignee_id: isKnown ? id : null,
  }
}

/** Returns the fields that differ from the saved ones; null without changes. */
export function integrationPatch(
  known: Integration,
  draft: IntegrationDraft,
): OperationInput<'integrations.update'> | null {
  const { project_id, ...wanted } = integrationInput(known.project_id, draft)
  const before = integrationInput(known.project_id, integrationDraft(known))
  const changed = Object.entries(wanted).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key as keyof typeof before]),
  )
  return changed.length === 0 ? null : { project_id, ...Object.fromEntries(changed) }
}
