import { Integration } from '../../../../src-shared/contract/integrations.ts'
import { noPullRequests, noWriteBack, unknownCan } from '../../../../src-shared/contract/pull-requests.ts'

const at = '2026-11-21T09:00:00.000Z'

/** An integration as the service returns it. */
export function integrationOf(more: Partial<Integration> = {}): Integration {
  return Integration.parse({
    id: '01990012-0000-7000-8000-000000000001',
    project_id: '01990001-0000-7000-8000-000000000001',
    platform: 'hosted',
    base_url: 'https://api.github.com',
    owner: 'acme',
    repo: 'shop',
    token_secret_ref: 'GITHUB_TOKEN',
    poll_interval_secs: 300,
    sync_filter: {},
    default_task_state: null,
    default_assignee_type: null,
    default_assignee_id: null,
    enabled: true,
    pull_requests: noPullRequests,
    write_back: noWriteBack,
    webhook_secret_ref: null,
    can: unknownCan,
    token_expires_at: null,
    last_polled_at: at,
    last_error: null,
    progress: null,
    syncing: false,
    next_poll_at: at,
    created_at: at,
    updated_at: at,
    ...more,
  })
}
