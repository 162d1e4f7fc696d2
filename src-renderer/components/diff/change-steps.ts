import type { CodeViewDiffItem } from '@pierre/diffs'

/** Where a run of changed lines begins: the new side where lines were added, else the old one. */
export interface ChangePlace {
  readonly id: string
  readonly lineNumber: number
  readonly side: 'additions' | 'deletions'
}

/** Every run of changed lines, in the order of the files. */
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
 * The place after (or before) `from`; in another file than `from` is in, that file's first, or the last before it.
 * `files`: the order of all, since the one at which somebody looks may show no changes.
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
