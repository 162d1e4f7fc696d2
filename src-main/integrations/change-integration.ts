import { trackerInfos } from '../../src-shared/contract/trackers.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { IntegrationId, ProjectId } from '../../src-shared/contract/ids.ts'
import type { IntegrationFields } from '../../src-shared/contract/integrations.ts'
import { givenFields } from '../../src-shared/lang/given-fields.ts'
import { invalidInput } from '../domain/refusal.ts'
import { isSameRepository, type Repository } from './rules/issue-address.ts'
import type { Ground } from '../core/ground.ts'
import { noPullRequests, noWriteBack, unknownCan } from '../../src-shared/contract/pull-requests.ts'
import { startState } from '../domain/workflow/graph.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import { readBaseUrl } from './tracker-urls.ts'

/** The fields of a patch of an integration. */
export type IntegrationPatch = { readonly [K in keyof IntegrationFields]?: IntegrationFields[K] | undefined }

/** Defaults of an integration. */
const defaults = {
  poll_interval_secs: 300,
  sync_filter: {},
  default_task_state: null,
  default_assignee_type: null,
  default_assignee_id: null,
  enabled: true,
  pull_requests: noPullRequests,
  write_back: noWriteBack,
  webhook_secret_ref: null,
} satisfies Partial<IntegrationFields>

const given = givenFields<IntegrationRecord>()

type Context = Pick<Ground, 'clock' | 'store' | 'workflows'>

export function blankIntegration(
  { clock }: Context,
  project_id: ProjectId,
  id: IntegrationId,
  fields: IntegrationFields,
): IntegrationRecord {
  const now = clock.now()
  const values = { ...defaults, ...given(fields) }
  return {
    ...values,
    id,
    project_id,
    can: unknownCan,
    token_expires_at: null,
    last_polled_at: null,
    last_error: null,
    next_poll_at: isoOf(now + values.poll_interval_secs * 1_000),
    ...fromTheStart,
    not_before: null,
    failures: 0,
    former_names: [],
    created_at: isoOf(now),
    updated_at: isoOf(now),
  }
}

const fromTheStart = { walk: null, since: null, etag: null }

/** Applies a patch. After a change of address or filter, the next sync reads everything. */
export function changeIntegration(
  { clock }: Context,
  record: IntegrationRecord,
  patch: IntegrationPatch,
): IntegrationRecord {
  const next: IntegrationRecord = { ...record, ...given(patch) }
  const isElsewhere = next.base_url !== record.base_url || next.platform !== record.platform
  const isOther = isElsewhere || next.owner !== record.owner || next.repo !== record.repo
  const isWider = JSON.stringify(next.sync_filter) !== JSON.stringify(record.sync_filter)
  const { poll_interval_secs } = next
  // The tag is of a request for open issues, or for all.
  const isOtherRequest = next.write_back.follow !== record.write_back.follow
  const isSooner = poll_interval_secs !== record.poll_interval_secs || (next.enabled && !record.enabled)
  // Keeps times of two changes within a millisecond distinct.
  const now = Math.max(clock.now(), Date.parse(record.updated_at) + 1)
  return {
    ...next,
    ...((isOther || isWider) && fromTheStart),
    ...(isOtherRequest && { walk: null, etag: null }),
    ...(isOther && { last_polled_at: null, former_names: isElsewhere ? [] : namesAfter(record, next) }),
    ...(isElsewhere && { not_before: null }),
    ...((isOther || next.token_secret_ref !== record.token_secret_ref) && { can: unknownCan, token_expires_at: null }),
    // A change resets the error count, because the person has seen the errors.
    failures: 0,
    ...((isSooner || record.failures > 0) && { next_poll_at: isoOf(clock.now() + poll_interval_secs * 1_000) }),
    updated_at: isoOf(now),
  }
}

/** Keeps the former names of a repository that the tracker reported as renamed, for their links. */
function namesAfter(record: IntegrationRecord, next: Repository): readonly Repository[] {
  const { owner, repo, former_names } = record
  if (isSameRepository(record, next)) return former_names
  if (!former_names.some((name) => isSameRepository(name, next))) return []
  return [...former_names.filter((name) => !isSameRepository(name, next)), { owner, repo }]
}

const isoOf = (time: number) => new Date(time).toISOString()

/** Returns why an integration can't work with these fields, or null. */
export function checkFields(context: Context, record: IntegrationRecord): Refusal | null {
  const base = readBaseUrl(record.platform, record.base_url)
  if (typeof base === 'string') return invalidInput('base_url', base)
  const { label, nestsOwners } = trackerInfos[record.platform]
  if (!nestsOwners && record.owner.includes('/')) {
    return invalidInput('owner', `${label} has no groups in groups. Enter the owner's name alone, as in the address.`)
  }
  const named = checkVariables(record)
  if (named) return named
  if ((record.default_assignee_type === null) !== (record.default_assignee_id === null)) {
    const path = record.default_assignee_type === null ? 'default_assignee_type' : 'default_assignee_id'
    return invalidInput(path, 'Send default_assignee_type and default_assignee_id together, or neither.')
  }
  const project = context.store.read.projects.get(record.project_id)
  const workflow = project && context.workflows.of(project.workflow_definition)
  if (workflow && startState(workflow, record.default_task_state) === null) {
    return invalidInput('default_task_state', 'A task starts in a state of kind backlog or initial. Name one of those.')
  }
  return null
}

/** Refuses variables that hold no secret of an integration. */
function checkVariables({ token_secret_ref, webhook_secret_ref }: IntegrationRecord): Refusal | null {
  const names = [token_secret_ref, ...(webhook_secret_ref === null ? [] : [webhook_secret_ref])]
  const own = names.find((name) => name.startsWith('SVC_') && !name.startsWith('SVC_SECRET_'))
  if (own !== undefined) {
    return {
      code: 'secret_ref_forbidden',
      message: `${own} belongs to Copse itself. Name another variable, or one that begins with SVC_SECRET_.`,
    }
  }
  if (webhook_secret_ref !== token_secret_ref) return null
  // It is entered at the forge, which shows it to others and may send it along.
  return invalidInput('webhook_secret_ref', "Name another variable than the token's: a webhook's secret opens nothing.")
}
