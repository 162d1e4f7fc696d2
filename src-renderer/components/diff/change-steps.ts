import type { CodeViewDiffItem } from '@pierre/diffs'

/** The start of a run of changed lines: on the new side if lines were added, else on the old one. */
export interface ChangePlace {
  readonly id: string
  readonly lineNumber: number
  readonly side: 'additions' | 'deletions'
}

/** Returns the start of every run of changed lines, in the order of the files. */
export function changePlaces(items: readonly Pick<CodeViewDiffItem, 'id' | 'fileDiff'>[]): readonly ChangePlace[] {
  return items.flatMap(({ id, fileDiff }) =>
    fileDiff.hunks.flatMap((hunk) => {
      const places: ChangePlace[] = []
      let added = hunk.additionStart
      let deleted = hunk.deletionStart
      for (const part of hunk.hunkContent) {
        if (part.type === 'context') {
          added += part.lines
          deleted += part.lines
          continue
        }
        const isNew = part.additions > 0
        places.push({ id, lineNumber: isNew ? added : deleted, side: isNew ? 'additions' : 'deletions' })
        added += part.additions
        deleted += part.deletions
      }
      return places
    }),
  )
}

/**
 * Returns the next or previous start after `from`. If `current` is another file, returns the first
 * start in that file, or the last one before it. `files`: the order of all files, because the
 * current one may show no changes.
 */
export function nextPlace(
  places: readonly ChangePlace[],
  from: ChangePlace | null,
  current: string | null,
  by: 1 | -1,
  files: readonly string[],
): ChangePlace | null {
  const at = from === null || from.id !== current ? -1 : places.findIndex((place) => same(place, from))
  if (at >= 0) return places[at + by] ?? null
  const ranks = new Map(files.map((id, index) => [id, index]))
  const rank = ranks.get(current ?? '') ?? 0
  const first = places.findIndex(({ id }) => (ranks.get(id) ?? 0) >= rank)
  return places[(first < 0 ? places.length : first) + (by === 1 ? 0 : -1)] ?? null
}

function same(one: ChangePlace, other: ChangePlace): boolean {
  return one.id === other.id && one.lineNumber === other.lineNumber && one.side === other.side
}
