import type { ChangedSource, ChangeFacts } from '../../src-main/chapters/rules/facts.ts'
import type { Hunk, HunkCause } from '../../src-main/chapters/rules/hunk.ts'
import { changedFile } from './line-hunks.ts'

/** One file of a change: null on a side where it is not. */
export interface FileSides {
  readonly before: string | null
  readonly after: string | null
  readonly old_path?: string
  readonly old_mode?: string
  readonly new_mode?: string
  readonly is_generated?: boolean
  /** A hunk besides those of lines, or instead of them if both sides are the same. */
  readonly cause?: HunkCause
}

/** Makes facts of files, without syntax. */
export function factsOf(files: Readonly<Record<string, FileSides>>, changes: Partial<ChangeFacts> = {}): ChangeFacts {
  return {
    files: Object.entries(files).map(([path, sides]) => sourceOf(path, sides)),
    syntax: new Map(),
    known_names: new Set(),
    hasGrammar: () => false,
    hasSecret: (line) => line.includes('s3cr3t-'),
    ignored: new Map(),
    risky_paths: [],
    ...changes,
  }
}

function sourceOf(path: string, sides: FileSides): ChangedSource {
  const { before, after, old_path = null, cause } = sides
  const lines = changedFile(path, before ?? '', after ?? '').hunks.map((hunk): Hunk => ({
    ...hunk,
    path,
    old_path,
    cause: 'lines',
  }))
  const nowhere = [0, 0] as const
  const whole: Hunk[] =
    cause === undefined
      ? []
      : [{ id: `${path}:${cause}`, path, old_path, cause, old: nowhere, new: nowhere, removed: [], added: [] }]
  const status = old_path !== null ? 'renamed' : before === null ? 'added' : after === null ? 'deleted' : 'modified'
  return {
    path,
    old_path,
    status,
    old_mode: before === null ? null : (sides.old_mode ?? '100644'),
    new_mode: after === null ? null : (sides.new_mode ?? '100644'),
    old_text: before,
    new_text: after,
    blob: after === null ? null : path,
    is_generated: sides.is_generated ?? false,
    hunks: [...whole, ...lines],
  }
}
