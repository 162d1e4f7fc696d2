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

/** The place after (or before) `from`; in another file than `from` is in, that file's first, or the last before it. */
export function nextPlace(
  places: readonly ChangePlace[],
  from: ChangePlace | null,
  current: string | null,
  by: 1 | -1,
): ChangePlace | null {
  const at = from === null || from.id !== current ? -1 : places.findIndex((place) => same(place, from))
  if (at >= 0) return places[at + by] ?? null
  const first = Math.max(
    0,
    places.findIndex((place) => place.id === current),
  )
  return places[by === 1 ? first : first - 1] ?? null
}

function same(one: ChangePlace, other: ChangePlace): boolean {
  return one.id === other.id && one.lineNumber === other.lineNumber && one.side === other.side
}
