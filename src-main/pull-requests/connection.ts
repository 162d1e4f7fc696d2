import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import type { IntegrationQueries } from '../ports/integration-queries.ts'

/** Returns the integration by which a task's forge may be asked. */
export function connectionOf(
  q: { readonly integrations: IntegrationQueries },
  { project_id }: Pick<TaskRecord, 'project_id'>,
): IntegrationRecord | Refusal {
  const record = q.integrations.byProject(project_id)
  if (!record) return notFound('integration')
  return record.enabled ? record : disabled
}

const disabled: Refusal = {
  code: 'integration_disabled',
  message: 'The integration is switched off. Set enabled to true first.',
}

/** Returns the integration if the project has pull requests switched on: else nothing is sent. */
export function writingConnectionOf(
  q: { readonly integrations: IntegrationQueries },
  task: Pick<TaskRecord, 'project_id'>,
): IntegrationRecord | Refusal {
  const record = connectionOf(q, task)
  if (isRefusal(record) || record.pull_requests.enabled) return record
  return {
    code: 'pull_requests_disabled',
    message: 'Pull requests are switched off for this project. Switch them on in its settings.',
  }
}

/** Refuses for a pull request that is merged or closed. */
export function closedRefusal({ number, state }: PullRequestRecord): Refusal | null {
  if (state !== 'merged' && state !== 'closed') return null
  const next = state === 'merged' ? 'Make a new one for further work.' : 'Reopen it, or make a new one.'
  return { code: 'pull_request_closed', message: `#${number} is ${state}. ${next}`, details: { state } }
}
