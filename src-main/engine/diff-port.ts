import type { DiffStat } from '../../src-shared/contract/tasks.ts'
import type { Diff, DiffFile, diffScopes } from '../../src-shared/contract/workspaces.ts'
import type { Cancellable } from './ports.ts'
import type { BranchRef } from './workspace-port.ts'

/** A changed file, before it is known who has viewed it. */
export type FileChange = Omit<DiffFile, 'viewed'>
export type FileDiff = Omit<Diff, 'files'> & { readonly files: readonly FileChange[] }

/** What the engine needs to show what a task changed. */
export interface DiffReader {
  /** Those who ask for the same while nothing changes share one answer. */
  diff(ref: BranchRef, scope: (typeof diffScopes)[number], file: string | null, options: Cancellable): Promise<FileDiff>
  diffStat(ref: BranchRef, options: Cancellable): Promise<DiffStat>
}
