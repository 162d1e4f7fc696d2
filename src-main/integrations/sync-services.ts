import type { Ground } from '../core/ground.ts'
import type { IssueTrackers } from '../ports/issue-trackers.ts'
import type { ImportDeps } from './import-page.ts'

export type SyncServices = ImportDeps &
  Pick<Ground, 'clock'> & {
    readonly trackers: IssueTrackers
    /** From 0 to 1. */
    readonly chance: () => number
  }
