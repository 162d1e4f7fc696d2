import { parsePatchFiles, type FileDiffMetadata } from '@pierre/diffs'
import type { PullRequestThread } from '../../../src-shared/contract/pull-requests.ts'
import type { Diff, DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { lineAfter } from '../../components/diff/diff-lines.ts'
import type { DiffAnnotation } from '../../components/diff/diff-notes.ts'
import { threadPlace } from '../../model/thread-place.ts'

/** A thread of the forge in a file, with the words for where it is. */
export interface PlacedThread {
  readonly thread: PullRequestThread
  readonly place: string
}

export interface PlacedThreads {
  readonly notes: readonly DiffAnnotation[]
  readonly byKey: ReadonlyMap<string, PlacedThread>
  /** Open threads on files without lines in the diff. */
  readonly unplaced: readonly PlacedThread[]
  /** The number of open threads by path. */
  readonly counts: ReadonlyMap<string, number>
}

/** What changed between the commit at the forge and the work here, by the file's path there. */
export type ChangesSince = ReadonlyMap<string, { readonly path: string; readonly lines: FileDiffMetadata | null }>

/** Reads the diff since the commit at the forge; null if it is about another commit, because that one isn't here. */
export function readChangesSince({ base, files, patch }: Diff, commit: string): ChangesSince | null {
  if (base !== commit) return null
  const lines = new Map(parsePatchFiles(patch).flatMap((part) => part.files.map((file) => [file.name, file])))
  return new Map(
    files.map((file) => [file.old_path ?? file.path, { path: file.path, lines: lines.get(file.path) ?? null }]),
  )
}

/** The line number of a note above the first line of its file. */
const TOP = 0

/**
 * Puts the threads of a pull request at their lines in the shown diff. One whose line is gone is above the first line of
 * its file. `since`: null if it isn't known. `isWhole`: whether the old side of the diff is what the branch began with.
 */
export function placeThreads(
  threads: readonly PullRequestThread[],
  files: readonly DiffFile[],
  since: ChangesSince | null,
  isWhole: boolean,
): PlacedThreads {
  const notes: DiffAnnotation[] = []
  const byKey = new Map<string, PlacedThread>()
  const unplaced: PlacedThread[] = []
  const counts = new Map<string, number>()
  const shown = new Map([
    ...files.flatMap((file) => (file.old_path === null ? [] : [[file.old_path, file] as const])),
    ...files.map((file) => [file.path, file] as const),
  ])
  for (const thread of threads) {
    if (thread.path === null) continue
    const { path, line, place } = findPlace(thread, thread.path, since, isWhole)
    const file = shown.get(path)
    const hasLines = file !== undefined && file.reason === null && file.additions + file.deletions > 0
    const key = `forge/${thread.id}`
    if (hasLines) {
      notes.push({ path: file.path, side: line === TOP ? 'new' : thread.side, line, key })
      byKey.set(key, { thread, place })
    } else if (!thread.resolved) unplaced.push({ thread, place: `${path}, ${lowerFirst(place)}` })
    if (file && !thread.resolved) counts.set(file.path, (counts.get(file.path) ?? 0) + 1)
  }
  return { notes, byKey, unplaced, counts }
}

interface FoundPlace {
  readonly path: string
  readonly line: number
  readonly place: string
}

function findPlace(thread: PullRequestThread, path: string, since: ChangesSince | null, isWhole: boolean): FoundPlace {
  const { line, side } = thread
  const place = threadPlace(thread)
  if (line === null) return { path: since?.get(path)?.path ?? path, line: TOP, place }
  if (side === 'old') return { path, line: isWhole ? line : TOP, place }
  if (since === null) return { path, line: TOP, place: `${place}, in a commit that isn’t here` }
  const changed = since.get(path)
  if (changed === undefined) return { path, line, place }
  const now = changed.lines && lineAfter(changed.lines, line)
  return now === null
    ? { path: changed.path, line: TOP, place: 'Its line has changed here' }
    : { path: changed.path, line: now, place: threadPlace({ ...thread, line: now }) }
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
