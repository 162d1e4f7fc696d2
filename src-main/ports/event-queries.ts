import type { EventEnvelope, EventType } from '../../src-shared/contract/events.ts'
import type { ProjectId } from '../../src-shared/contract/ids.ts'

export interface EventQueries {
  /** Numbers and stores the event, and returns it complete. */
  append<T extends EventType>(type: T, project_id: ProjectId | null, data: unknown): EventEnvelope
  after(seq: number, limit: number): readonly EventEnvelope[]
  /** Returns the stored numbers; `first` is 0 if there are none. */
  range(): { readonly first: number; readonly last: number }
  /** Deletes a few of the oldest events beyond the last `keep`; returns whether more are left. */
  trim(keep: number): boolean
}
