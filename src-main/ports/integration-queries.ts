import type { IntegrationId, ProjectId } from '../../src-shared/contract/ids.ts'
import type { IntegrationRecord } from './issue-trackers.ts'

export interface IntegrationQueries {
  byProject(project_id: ProjectId): IntegrationRecord | null
  list(): readonly IntegrationRecord[]
  put(record: IntegrationRecord): void
  delete(id: IntegrationId): void
}

export interface SecretHostQueries {
  get(name: string): string | null
  put(name: string, host: string): void
}
