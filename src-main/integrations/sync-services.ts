import type { EngineContext } from '../core/context.ts'
import type { IssueTrackers } from '../ports/issue-trackers.ts'
import type { ImportDeps } from './import-page.ts'

export type SyncServices = ImportDeps &
  Pick<EngineContext, 'store' | 'clock'> & {
    readonly trackers: IssueTrackers
    /** From 0 to 1. */
    readonly chance: () => number
  }
